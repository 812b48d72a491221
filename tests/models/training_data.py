"""The demonstration set as a train and a test split, for detectors that are trained in tests."""

import json
from pathlib import Path

from ragmend.datasets.ragtruth import demo_folder


def write_training_data(folder):
    """Write the demonstration set as a test split, and under other ids as a train split."""
    folder.mkdir(parents=True, exist_ok=True)
    demo = demo_folder()
    for split in ("test", "train"):
        rows = {name: read_jsonl(demo / f"{name}.jsonl") for name in ("response", "source_info")}
        for row in rows["response"]:
            row["split"] = split
            if split == "train":
                row["id"] = f"9{row['id']}"
                row["source_id"] = f"t{row['source_id']}"
        for row in rows["source_info"]:
            if split == "train":
                row["source_id"] = f"t{row['source_id']}"
        for name, content in rows.items():
            lines = "".join(json.dumps(row) + "\n" for row in content)
            (folder / f"{split}_{name}.jsonl").write_text(lines)
    return folder


def read_jsonl(path):
    return [json.loads(line) for line in Path(path).read_text().split("\n") if line]
