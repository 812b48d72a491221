from ragmend.llm.in_process.usage import Usage


def test_the_reused_share_is_of_prompt_tokens():
    usage = Usage()
    usage.add(n_prompt_tokens=100, n_reused_tokens=0)
    usage.add(n_prompt_tokens=100, n_reused_tokens=96, n_tokens=7)
    assert usage.describe() == "prefix reuse 48 %"
    assert usage.as_json() == {
        "n_requests": 2,
        "n_prompt_tokens": 200,
        "n_tokens": 7,
        "n_reused_tokens": 96,
    }


def test_nothing_is_said_before_the_first_prompt():
    assert Usage().describe() == ""
