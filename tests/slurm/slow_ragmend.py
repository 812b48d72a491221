"""ragmend with a verifier that takes its time, called as `python -P -m ragmend …` would be.

The first argument is how many seconds an answer takes; a file of that name says it, so that a test
can change it between two lives of a task.
"""

import asyncio
import sys
from pathlib import Path


def main():
    delay, words = Path(sys.argv[1]), sys.argv[2:]
    sys.argv = ["ragmend", *words[words.index("ragmend") + 1 :]]

    from ragmend.cli.main import main as run
    from ragmend.cli.roles import embedded

    verify = embedded.EmbeddedVerifier.verify

    locks = {}

    async def verify_slowly(self, *arguments):
        # As of a server, one answer after the other: a signal finds it waiting.
        loop = asyncio.get_running_loop()  # several shards of a task have one each
        async with locks.setdefault(loop, asyncio.Lock()):
            await asyncio.sleep(float(delay.read_text()))
        return await verify(self, *arguments)

    embedded.EmbeddedVerifier.verify = verify_slowly
    run()


if __name__ == "__main__":
    main()
