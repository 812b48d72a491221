"""Where the official files of public data sets are, and what they are to be, byte for byte.

Nothing here fetches anything; no data set is part of this package.
"""

from typing import NamedTuple


class Member(NamedTuple):
    """One file of an archive that is kept.

    Attributes:
        path: Its path in the archive.
        name: The name it gets.
        n_bytes: Its size, where known.
        sha256: Its hash as hex, where known.
    """

    path: str
    name: str
    n_bytes: int | None = None
    sha256: str | None = None


class OfficialFile(NamedTuple):
    """One file of a publisher.

    Attributes:
        name: The name it gets.
        url: Where it is, at a fixed commit where there is one.
        n_bytes: Its size, where known.
        sha256: Its hash as hex, where known.
        members: Of a gzipped tar archive, the files that are kept; it itself is not.
    """

    name: str
    url: str
    n_bytes: int | None = None
    sha256: str | None = None
    members: tuple[Member, ...] = ()

    def kept(self) -> tuple[Member, ...]:
        """Return what is there in the end: its members, or itself."""
        return self.members or (Member("", self.name, self.n_bytes, self.sha256),)


class OfficialDataset(NamedTuple):
    """A data set as its authors published it.

    Attributes:
        title: What it is, and whose.
        licence: What may be done with it.
        files: All that is fetched.
    """

    title: str
    licence: str
    files: tuple[OfficialFile, ...]


_RAGTRUTH = (
    "https://raw.githubusercontent.com/ParticleMedia/RAGTruth/"
    "c103204b9ce28d6bbad859304bf30de72b8ed8fe/dataset"
)
_DIAHALU = (
    "https://raw.githubusercontent.com/ECNU-ICALK/DiaHalu/e866a8c3d22e5e96fe93de3f2c6a72950d3aec86"
)

OFFICIAL: dict[str, OfficialDataset] = {
    "ragtruth": OfficialDataset(
        "RAGTruth (Niu et al. 2024), ParticleMedia/RAGTruth, 17,790 answers to 2,965 sources",
        "MIT, Copyright (c) 2023 Particle Media; the sources (CNN/DM and recent news, MS MARCO, "
        "Yelp) have owners and terms of their own",
        (
            OfficialFile(
                "response.jsonl",
                f"{_RAGTRUTH}/response.jsonl",
                21_458_735,
                "e4c2e4ac24fff676d8984cc61c35d791612fadc58015335d97dd632375e18073",
            ),
            OfficialFile(
                "source_info.jsonl",
                f"{_RAGTRUTH}/source_info.jsonl",
                15_117_971,
                "0dffc26ea9f3c1c3d7c7e8336b56ef1646e3cec876edffcca3c9c624d12d578b",
            ),
        ),
    ),
    "scifact": OfficialDataset(
        "SciFact (Wadden et al. 2020), allenai/scifact, 1,409 claims and 5,183 abstracts",
        "claims and annotations CC BY 4.0, abstracts ODC-By 1.0",
        (
            OfficialFile(
                "data.tar.gz",
                "https://scifact.s3-us-west-2.amazonaws.com/release/latest/data.tar.gz",
                3_115_079,
                "11c621288d41ac144d29b13b0f8503b3820b7d6e8b1f6ff24dff335c196d76be",
                (
                    Member(
                        "data/claims_train.jsonl",
                        "claims_train.jsonl",
                        175_616,
                        "f4c8fa82d8bd0653a9cc8d61a6ea48c25eacea64e90af5dbf390ebb1b74372f0",
                    ),
                    Member(
                        "data/claims_dev.jsonl",
                        "claims_dev.jsonl",
                        65_007,
                        "86f0435d08fdb65d1aa41d1472684f57e6e71930626497bdf4d7a9ec1a632217",
                    ),
                    Member(
                        "data/claims_test.jsonl",
                        "claims_test.jsonl",
                        33_769,
                        "558930d75215c73f84a28fe538307d6d397c9de1ec7239514cf45f80d75d2ca3",
                    ),
                    Member(
                        "data/corpus.jsonl",
                        "corpus.jsonl",
                        8_307_875,
                        "b8d6c89624cb2ed74dee8938effc4f5d8bd2086887880af8110d64be4ceade62",
                    ),
                ),
            ),
        ),
    ),
    "hotpotqa": OfficialDataset(
        "HotpotQA (Yang et al. 2018), the 7,405 development questions, distractor setting",
        "CC BY-SA 4.0",
        (
            OfficialFile(
                "hotpot_dev_distractor_v1.json",
                # The publisher offers it by http; the hash below says whether it is the one.
                "http://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json",
                46_320_117,
                "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea",
            ),
        ),
    ),
    "diahalu": OfficialDataset(
        "DiaHalu (Chen et al. 2024), ECNU-ICALK/DiaHalu, 748 dialogues and, in V2, 355 more",
        "none is given: ask the authors before you pass it on",
        (
            OfficialFile(
                "DiaHalu_V1.xlsx",
                f"{_DIAHALU}/DiaHalu_V1.xlsx",
                386_305,
                "e2ef18948159608b76edf7a2fb2adc1ebec3e9fbceeda6228fc76eb9bf5c8230",
            ),
            OfficialFile(
                "DiaHalu_V2.xlsx",
                f"{_DIAHALU}/DiaHalu_V2.xlsx",
                556_338,
                "39c84f84b3dc6aa8f67dadf65f99fd2106c3a2d92b1d115964d76e58e04c743f",
            ),
        ),
    ),
}
"""The data sets by the name they are asked for."""
