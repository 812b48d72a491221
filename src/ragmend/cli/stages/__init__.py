"""One runner a stage, in the order in which they run."""

from ragmend.cli.context import Stage
from ragmend.cli.stages.analyze import ANALYZE
from ragmend.cli.stages.assemble import ASSEMBLE
from ragmend.cli.stages.detect import DETECT
from ragmend.cli.stages.judge import JUDGE
from ragmend.cli.stages.match import MATCH
from ragmend.cli.stages.propose import PROPOSE
from ragmend.cli.stages.report import REPORT
from ragmend.cli.stages.select import SELECT
from ragmend.cli.stages.split import SPLIT
from ragmend.cli.stages.verify import VERIFY

STAGES: tuple[Stage, ...] = (
    DETECT,
    SELECT,
    SPLIT,
    MATCH,
    VERIFY,
    PROPOSE,
    ASSEMBLE,
    JUDGE,
    ANALYZE,
    REPORT,
)
