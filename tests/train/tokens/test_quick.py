import pytest, json, time
from ragmend.detector.tokens.kind import TOKEN_CLASSIFICATION as K
from ragmend.io import read_records
from ragmend.trained import *
pytestmark=pytest.mark.train
@pytest.mark.parametrize("arch",["modernbert","bert"])
def test_it(arch, request, make_job, pairs, watch):
    base=request.getfixturevalue(arch)
    job=make_job(base=base, epochs=40, micro_batch_size=1, trackers=("tensorboard",), learning_rate=5e-3)
    print(K.measure(job,pairs)); print(K.memory(job))
    t=time.time(); K.fit(job,pairs,list(K.batches(job,pairs)),watch); print("fit",time.time()-t)
    print(watch.lines[-5:])
    import os
    for r,d,f in os.walk(job.folder): print(r,f)
    rows=list(read_records(job.folder/"log.jsonl",LogRow)); print(rows[0],rows[-1])
    mem=list(read_records(job.folder/"in-memory.jsonl",DetectorAnswer))
    with K.open(job,job.weights(40)) as p:
        again=[a for b in K.batches(job,pairs) for a in p.answer(b)]
    assert again==mem
    t=K.choose_threshold({a.record_id:a for a in again},[p.response for p in pairs]); print(t)
    d={a.record_id:a for a in again}
    for p in pairs:
        print([s.text for s in K.read(d[p.response.record_id],p.response,run_id="r",threshold=t).spans],[s.text for s in p.response.gold_spans])
    print(open(job.weights(1)/"config.json").read())
