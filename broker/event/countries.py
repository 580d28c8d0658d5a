"""Codes of countries: ISO 3166 in two letters and three, and the IOC's; lists of players may have any of them."""

from collections.abc import Mapping
from functools import cache
from typing import Final

REGIONS: Final = frozenset(["AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"])
"""What Unicode's data have among the countries and is none. XK stays: in general use for Kosovo."""

WITHDRAWN: Final = frozenset(["BUR", "DDR", "FXX", "TMP", "XKK", "YMD", "ZAR"])
"""Codes of three letters that Unicode's data still read."""

IOC: Final = (
    "ALG DZ ANG AO ANT AG ARU AW ASA AS BAH BS BAN BD BAR BB BER BM BHU BT BIZ BZ BOT BW BRU BN BUL BG BUR BF CAM KH "
    "CAY KY CGO CG CHA TD CHI CL CRC CR CRO HR DEN DK ESA SV FIJ FJ GAM GM GBS GW GEQ GQ GER DE GRE GR GRN GD GUA GT "
    "GUI GN HAI HT HON HN INA ID IRI IR ISV VI IVB VG KOS XK KSA SA KUW KW LAT LV LBA LY LES LS MAD MG MAS MY MAW MW "
    "MGL MN MON MC MRI MU MTN MR MYA MM NCA NI NED NL NEP NP NGR NG NIG NE OMA OM PAR PY PHI PH PLE PS POR PT PUR PR "
    "RSA ZA SAM WS SEY SC SKN KN SLO SI SOL SB SRI LK SUD SD SUI CH TAN TZ TGA TO TOG TG TPE TW UAE AE URU UY VAN VU "
    "VIE VN VIN VC ZAM ZM ZIM ZW"
)
"""Those of the IOC's that ISO does not have, each with the country's two letters. BRN is Brunei, as ISO has it."""


@cache
def countries() -> Mapping[str, str]:
    """Return the two letters of a country by each of its codes; Unicode's data have those of ISO."""
    from babel.core import Locale, get_global  # noqa: PLC0415 - scores are added up without Babel too

    two = {code for code in map(str, Locale("en").territories) if code.isalpha()} - REGIONS
    three = {
        code: of[0]
        for code, of in get_global("territory_aliases").items()
        if len(code) == len("FRA") and code.isalpha() and code not in WITHDRAWN and len(of) == 1 and of[0] in two
    }
    olympic = IOC.split()
    return {code: code for code in two} | three | dict(zip(olympic[::2], olympic[1::2], strict=True))


def country_of(code: str) -> str:
    """Return the two letters of a country, which are the same for each of its codes; an unknown code stays as it is."""
    return countries().get(code, code)
