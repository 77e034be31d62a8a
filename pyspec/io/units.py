"""What a name or a unit says: energy, time, standard errors, or nothing."""

from __future__ import annotations

import re

from pyspec.errors import DataError


def _spelled(units: dict[str, str]) -> dict[str, str]:
    """Unit as written (lower case) → unit as shown, from the spellings of each."""
    return {word: unit for unit, words in units.items() for word in words.split(", ")}


ENERGY_UNITS = _spelled(
    {
        "eV": "ev, electronvolt, electronvolts, electron volt, electron volts, electron_volt",
        "meV": "mev",
        "keV": "kev",
        "nm": "nm",
        "µm": "um, µm, μm",
        "Å": "angstrom, å",
        "cm⁻¹": "cm-1, cm^-1, cm^{-1}, cm⁻¹, 1/cm",
        "THz": "thz",
    }
)
#: Units of wavelengths, as shown.
WAVELENGTHS = ("nm", "µm", "Å")
TIME_UNITS = {unit: unit for unit in ("as", "fs", "ps", "ns", "ms", "s", "min")}
TIME_UNITS |= _spelled({"µs": "us, µs, μs", "s": "sec"})
_PREFIXES = {
    "": "s", "atto": "as", "femto": "fs", "pico": "ps", "nano": "ns", "micro": "µs", "milli": "ms",
}  # fmt: skip
TIME_UNITS |= {f"{word}second{end}": unit for word, unit in _PREFIXES.items() for end in ("", "s")}
COUNT_UNITS = _spelled(
    {"counts/s": "counts_per_second, counts per second, counts/s, counts / s, c/s"}
)
_ENERGY_WORDS = (
    "energy energies e be ke ebin ekin binding kinetic photon wavelength wavelengths wave lambda "
    "λ wl wavenumber wavenumbers frequency freq raman shift omega spectral w "
    # German, French, Italian, Spanish
    "energie énergie energia energía bindungsenergie photonenenergie liaison wellenlänge "
    "wellenlaenge wellenzahl frequenz longueur fréquence frequenza frecuencia"
)
_TIME_WORDS = (
    "time times delay delays t dt td tau pumpprobe "
    "zeit verzögerung verzoegerung verzögerungszeit temps délai retard tempo ritardo tiempo retardo"
)
_BRACKETS = re.compile(r"^(.*?)\s*[\[(]\s*([^\])]*?)\s*[\])]\s*$")
_SLASH = re.compile(r"^(.*?)\s*(?:/|\s+in\s+|_|,\s)\s*([^/\s]+)$")
#: "Counts / s" is a rate, no number of counts in seconds.
_RATE = re.compile(r"^(.*?)[\s,/]*\b([kM]?)(?:counts?|cts)\s*/\s*(s|sec|ms|min|h)$", re.IGNORECASE)
#: A unit of temperature, which is neither that of an energy nor of a time.
_TEMPERATURE = re.compile(
    r"°\s*[CF]\b|\bdeg\s*[CF]\b|\b[Cc]elsius\b|\b[Kk]elvin\b|[/(\[]\s*m?K\s*[)\]]?$"
)
#: "Counts, 1/s": what stands behind the sign is no unit of its own.
_PER = re.compile(r"^(.*?)(?:\s*[,/]|\s+in)?\s+(1/([^/\s]+))$")


def show_unit(text: str) -> str:
    """A unit in the usual spelling: "cm-1" → "cm⁻¹"; what is unknown stays as it is."""
    word = text.strip()
    low = word.lower()
    if word == "MeV":
        return word
    return ENERGY_UNITS.get(low) or TIME_UNITS.get(low) or COUNT_UNITS.get(low) or word


def is_unit(text: str) -> bool:
    """Whether a word is the unit of an energy or a time axis, or of counts."""
    low = text.strip().strip("()[]").lower()
    counts = {"counts", "cts", "counts/s", "cps", "a.u.", "arb. units", "arb.u.", "od", "mod"}
    return any(low in units for units in (ENERGY_UNITS, TIME_UNITS, COUNT_UNITS, counts))


def split_unit(text: str) -> tuple[str, str]:
    """Label and unit: "BE/eV", "Energy (eV)", "Time in ps", "delay_fs" → ("BE", "eV") …

    The unit is "" where there is none.
    """
    text = text.strip()
    match = _BRACKETS.match(text)
    if match and match[1]:
        return match[1], show_unit(match[2])
    if is_unit(text) and len(text) > 1:  # also counts/s, which has no label
        return "", show_unit(text)
    match = _RATE.match(text)
    if match:
        return match[1], f"{match[2]}counts/{show_unit(match[3])}"
    match = _PER.match(text)
    if match and match[1] and (is_unit(match[3]) or is_unit(match[2])):
        return match[1], show_unit(match[2])
    match = _SLASH.match(text)
    if match and match[1] and is_unit(match[2]):
        return match[1], show_unit(match[2])
    return text, ""


def need_same_unit(where: object, errors: str, own: str, unit: str) -> None:
    """Raises :class:`DataError` where standard errors say another unit than their data."""
    if own and unit and show_unit(own).casefold() != show_unit(unit).casefold():
        raise DataError(
            f"{where}: errors={errors!r} are in {own}, the data in {unit}; write both in one unit"
        )


def guess_kind(name: str, unit: str = "") -> str | None:
    """ "energy", "time" or None for an axis of that name and unit."""
    label, own = split_unit(name.rsplit("/", 1)[-1] if unit else name)
    shown = (show_unit(unit) if unit else own) or ""
    if shown in ENERGY_UNITS.values():
        return "energy"
    if shown in TIME_UNITS.values():
        return "time"
    named = re.sub(r"\bnon[-\s]energy\b", "", (label or name).lower())  # of SPECS
    words = [word for word in re.split(r"[\W\d_]+", named) if word]
    if _TEMPERATURE.search(f"{name} [{unit}]" if unit else name):
        words = [word for word in words if len(word) > 1]  # T is no time there
    for word in words:
        if word in _TIME_WORDS.split():
            return "time"
        if word in _ENERGY_WORDS.split():
            return None if is_angle(shown) else "energy"
    return None


#: What is said of an axis that nothing names.
TAKEN = "as nothing says what it is (of times say rename(energy='time'))"


def axis_kind(name: str, unit: str) -> tuple[str, str]:
    """The axis of a column, "energy" or "time", and what is said where it was only taken for it."""
    kind = guess_kind(name, unit)
    return ("energy", f", {TAKEN}") if kind is None else (kind, "")


_ANGLES = ("deg", "degree", "degrees", "°", "rad", "mrad")


def is_angle(unit: str) -> bool:
    """Whether a unit is one of angles."""
    return unit.strip().lower() in _ANGLES


def dim_name(label: str, unit: str, place: int) -> str:
    """What to call an axis in Python: "energy", "time", "angle", its label, or "axis_0"."""
    kind = guess_kind(label, unit)
    if kind is not None:
        return kind
    if is_angle(unit):
        return "angle"
    word = re.sub(r"\W+", "_", label.lower()).strip("_")
    return word[:40] if word and not word[0].isdigit() else f"axis_{place}"


#: What columns of standard errors are called, without spaces, points and hyphens.
_ERRORS = (
    "err error errors stderr std stdev stddev stderror standarderror standarddeviation sd sigma σ "
    "unc uncertainty uncertainties dy errorbar errorbars "
    "fehler messfehler standardfehler standardabweichung stdabw stabw unsicherheit "
    "messunsicherheit fehlerbalken "
    "erreur erreurtype erreurs écarttype ecarttype incertitude "
    "errore incertezza deviazionestandard errorestándar incertidumbre desviación "
    "desviaciónestándar"
)


def holds_errors(name: str, value: str) -> bool:
    """Whether a column of that name holds standard errors of the column `value`: "sigma", or
    "counts_err" beside "counts". Those in per cent of it, "error (%)", are not standard errors."""
    (label, own), (other, unit) = split_unit(name), split_unit(value)
    if own == "%" != unit:
        return False
    name, value = (label or name).strip().lower(), (other or value).strip().lower()
    beside = (name, name.removeprefix(value), name.removesuffix(value))
    words = [re.sub(r"[\s_.-]+", "", word) for word in beside]
    endings = _ERRORS.split()
    return any(word in endings or word.strip("y") in endings for word in words)
