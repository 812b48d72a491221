"""What the generative detector is taught to write: verdict and unsupported parts, as JSON."""

import json

from ragmend.errors import DataError
from ragmend.records import Response
from ragmend.scoring import merge_spans


def target_text(response: Response) -> str:
    """Return the JSON object of a response's annotation.

    Annotations of one response overlap and repeat: their union is written, each stretch once, in
    the answer's order; `hallucinated` is true where there is one.

    Raises:
        DataError: Nobody annotated the response: it has nothing to teach.
    """
    if response.gold_spans is None:
        raise DataError(
            f"response {response.record_id}: data without spans (`gold_spans` is null): a detector "
            "is trained on annotated responses, of which one without a finding has an empty list; "
            "leave it out"
        )
    places = merge_spans((span.start, span.end) for span in response.gold_spans)
    texts = [response.text[start:end] for start, end in places]
    return json.dumps({"hallucinated": bool(texts), "spans": texts}, ensure_ascii=False)
