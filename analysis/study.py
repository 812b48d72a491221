"""One analysis: its inputs, how to compute, and what several tables share, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ragmend.analysis.inputs.arms import ArmCube, arm_cube, arm_order
from ragmend.analysis.inputs.design import ORIGINAL, Design, label_design
from ragmend.analysis.inputs.frames import Frames, needed
from ragmend.analysis.inputs.labels import KEY, LabelCube, label_cube
from ragmend.analysis.inputs.record_facts import labels_with_facts
from ragmend.analysis.inputs.runs import DetectorRun, RunList, UnscoredRun, read_runs, run_order
from ragmend.analysis.settings import Provenance, Settings
from ragmend.analysis.statistics.judge_agreement import AgreementRow, agreement_rows
from ragmend.analysis.statistics.paired import PairedContrast, compare_conditions
from ragmend.errors import StatisticsError
from ragmend.records import ARMS

_PAPER_PRIMARY = "qwen"


@dataclass(frozen=True)
class Study:
    """What every table is made from."""

    frames: Frames
    settings: Settings
    provenance: Provenance

    @cached_property
    def design(self) -> Design:
        """Return which conditions are compared, and which comparisons are primary."""
        labels = needed(self.frames, "labels", [*KEY, "label"])
        found = labels["condition"].dropna().astype(str).unique()
        return label_design(found, self.settings)

    @cached_property
    def cube(self) -> LabelCube:
        """Return the labels, checked and complete, with what is known of each record.

        Raises:
            StatisticsError: The labels are incomplete, doubled or not 0/1.
        """
        return label_cube(
            labels_with_facts(self.frames, self.provenance),
            conditions=self.design.conditions,
            judges=self.provenance.judges,
            incomplete=self.settings.incomplete,
            name=self.provenance.name_of("labels"),
        )

    @property
    def n_dropped(self) -> int:
        """Return how many records lack a label and are left out of all that is judged."""
        return self.cube.n_dropped + self._n_without_labels if self.frames.has("labels") else 0

    @property
    def _n_without_labels(self) -> int:
        """Return how many records have no label at all, where that is what `drop` leaves out."""
        records, labels = self.frames.records, self.frames.labels
        if records is None or labels is None or self.settings.incomplete != "drop":
            return 0
        return len({*map(str, records["record_id"])} - {*map(str, labels["record_id"])})

    @cached_property
    def arms(self) -> ArmCube:
        """Return what the arms did; an arm is one of the paper's, or a condition of this study.

        Raises:
            StatisticsError, AccountingError: As `arm_cube`.
        """
        frames, settings = self.frames, self.settings
        source = self.design if frames.has("labels") else settings
        known = arm_order({*ARMS, *source.conditions} - {source.reference or ORIGINAL})
        return arm_cube(frames, known=known, name=self.provenance.name_of("arms"))

    @property
    def runs(self) -> list[DetectorRun]:
        """Return the detector runs that have a score, by model and seed, checked."""
        return self._run_list.scored

    @property
    def unscored(self) -> list[UnscoredRun]:
        """Return the detector runs that have none, which are named and counted nowhere."""
        return self._run_list.unscored

    @property
    def all_runs(self) -> list[DetectorRun | UnscoredRun]:
        """Return the runs with a score and those without, by model and seed."""
        return sorted([*self.runs, *self.unscored], key=run_order)

    @cached_property
    def _run_list(self) -> RunList:
        return read_runs(self.frames, name=self.provenance.name_of("runs"))

    @cached_property
    def contrasts(self) -> list[PairedContrast]:
        """Return every judge's comparison of every contrast of the design."""
        return compare_conditions(self.cube, self.design.contrasts, settings=self.settings)

    @cached_property
    def agreement(self) -> list[AgreementRow]:
        """Return how well every two raters agree, judges and gold, in each condition."""
        return agreement_rows(self.cube, self.design.reference, self.settings)

    @property
    def primary_judge(self) -> str:
        """Return the judge that drives per-task tables: as given, the paper's, or the first."""
        given = self.provenance.primary_judge
        if given is None:
            return _PAPER_PRIMARY if _PAPER_PRIMARY in self.cube.judges else self.cube.judges[0]
        if given not in self.cube.judges:
            raise StatisticsError(
                f"primary judge {given!r} does not occur; there are {', '.join(self.cube.judges)}"
            )
        return given
