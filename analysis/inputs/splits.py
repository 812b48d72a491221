"""Which claims a verifier's threshold was chosen on; they are no part of what was repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

DEVELOPMENT = "development"


def is_development(claims: pd.DataFrame) -> pd.Series[bool]:
    """Tell which claims are of the development split; none where there is no `split`."""
    import pandas as pd

    if "split" not in claims:
        return pd.Series(False, index=claims.index)
    return (claims["split"] == DEVELOPMENT).fillna(False).astype(bool)


def evaluated_claims(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the claims that are not of the development split."""
    return claims[~is_development(claims)]
