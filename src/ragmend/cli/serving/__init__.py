"""vLLM servers on this machine: how one is started, watched and ended."""
