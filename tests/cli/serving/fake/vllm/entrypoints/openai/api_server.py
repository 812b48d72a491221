"""Stands in for vLLM's server: as slow, stubborn or short-lived as FAKE_VLLM says."""

import argparse
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Server(BaseHTTPRequestHandler):
    """Answers that it is well, and every question alike: Yes is likelier than No."""

    def do_GET(self):
        answers = {
            "/health": {},
            "/version": {"version": "0.32.0"},
            "/v1/models": {"data": [{"id": self.server.model, "max_model_len": 2048}]},
        }
        self.answer(answers.get(self.path))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            words = [str(body.get("prompt", body.get("messages")))]
            self.answer({"count": 1, "tokens": [self.server.token(word) for word in words]})
        elif self.path == "/v1/chat/completions":
            ids = body.get("logprob_token_ids", [])
            yes = self.server.token("Yes")
            entries = [
                {"token": f"token_id:{i}", "logprob": math.log(0.6 if i == yes else 0.01)}
                for i in ids
            ]
            choice = {
                "message": {"content": os.environ.get("FAKE_VLLM_ANSWER", "Yes.")},
                "finish_reason": "stop",
                "logprobs": {"content": [{"top_logprobs": entries}]},
            }
            usage = {"prompt_tokens": 1, "completion_tokens": 1}
            self.answer({"model": self.server.model, "choices": [choice], "usage": usage})
        else:
            self.answer(None)

    def answer(self, content):
        body = json.dumps(content or {}).encode()
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def end_early(args):
    say("(APIServer pid=7) INFO 11-30 17:30:35 [x.py:1] all is well")
    say(f"(EngineCore pid=9) ERROR 11-30 17:30:44 [core.py:1] ValueError: no {args.model}")
    say("RuntimeError: Engine core initialization failed. See root cause above.")
    sys.exit(3)


def start_engine():
    """Start a process that outlives this one and does not care for SIGTERM."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    return subprocess.Popen([sys.executable, "-c", code])


def main():
    parser = argparse.ArgumentParser()
    for name in ("model", "served-model-name", "host", "dtype", "generation-config"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--port", type=int)
    args, rest = parser.parse_known_args()
    mode = os.environ.get("FAKE_VLLM", "")
    if note := os.environ.get("FAKE_VLLM_NOTE"):
        seen = {"argv": sys.argv[1:], "environment": dict(os.environ), "rest": rest}
        Path(note).write_text(json.dumps(seen))
    if mode == "early":
        end_early(args)
    if mode == "loses its port once":
        flag = Path(os.environ["FAKE_VLLM_FLAG"])
        if not flag.exists():
            flag.write_text(str(args.port))
            sys.exit("OSError: [Errno 98] error while binding: address already in use")
    if mode in ("engine", "killed"):
        say(f"engine {start_engine().pid}")
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say(f"engine {start_engine().pid}")
    if mode == "never":
        time.sleep(600)
    time.sleep(0.3)
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    server_class = type("Listener", (ThreadingHTTPServer,), {"address_family": family})
    server = server_class((args.host, args.port), Server)
    server.model = args.served_model_name
    tokens = {}
    server.token = lambda word: tokens.setdefault(word, len(tokens))
    if mode == "killed":
        kill = threading.Timer(
            float(os.environ.get("FAKE_VLLM_AFTER_S", "1")), os.kill, (os.getpid(), signal.SIGKILL)
        )
        kill.start()
    server.serve_forever()


if __name__ == "__main__":
    main()
