"""Question generator: every kind of question the model is trained on and scored with.

A kind has a list of keys (the facts it asks about) and a function that turns one key into a question. Kinds with
several steps compose facts: their explanation is the chain of steps, and the answer is the last step. An explanation
always ends in the answer, which is what lets one small model learn one way of picking the option.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import facts as f

EASY = "Easy undergraduate level"
HARD = "Hard undergraduate level"
GRADUATE = "Hard graduate level"

PHYSICS, CHEMISTRY, BIOLOGY = "Physics", "Chemistry", "Biology"


@dataclass(frozen=True)
class Draft:
    """A question before its options are drawn: `pool` holds what wrong answers are drawn from."""

    stem: str
    answer: str
    pool: Iterable[str]
    explanation: str


@dataclass(frozen=True)
class Question:
    """A four-option question; the first option is the right one."""

    stem: str
    options: tuple[str, str, str, str]
    explanation: str
    domain: str
    subdomain: str
    difficulty: str


@dataclass(frozen=True)
class Kind:
    """One kind of question: how many the fixed set holds, how often training draws it, and how it is built."""

    domain: str
    subdomain: str
    difficulty: str
    quota: int
    weight: float
    multi_step: bool
    keys: list[Any]
    build: Callable[..., Draft]


def _near(value: int, *traps: int, lowest: int = 0) -> list[str]:
    """Wrong numbers around `value`, with the numbers that appear on the way to it as traps."""
    around = [value + step for step in (-10, -4, -3, -2, -1, 1, 2, 3, 4, 10)]
    return [str(number) for number in [*around, *traps] if number >= lowest]


# --- Chemistry -------------------------------------------------------------------------------------------------------


def _has_number(z: int) -> str:
    return f"The element {f.NAMES[z - 1]} has atomic number {z}."


def _number_to_element(z: int) -> Draft:
    name = f.NAMES[z - 1]
    return Draft(f"Which element has atomic number {z}?", name, f.NAMES, f"Atomic number {z} is {name}.")


def _element_to_number(z: int) -> Draft:
    return Draft(f"What is the atomic number of {f.NAMES[z - 1]}?", str(z), _near(z, lowest=1), _has_number(z))


def _element_to_symbol(z: int) -> Draft:
    name, symbol = f.NAMES[z - 1], f.SYMBOLS[z - 1]
    stem = f"What is the chemical symbol of {name}?"
    return Draft(stem, symbol, f.SYMBOLS, f"The element {name} has symbol {symbol}.")


def _symbol_to_element(z: int) -> Draft:
    name, symbol = f.NAMES[z - 1], f.SYMBOLS[z - 1]
    stem = f"Which element has the chemical symbol {symbol}?"
    return Draft(stem, name, f.NAMES, f"Symbol {symbol} is {name}.")


_PERIODS = [str(row) for row in range(1, 8)]
_GROUPS = [str(column) for column in range(1, 19)]


def _period(z: int) -> Draft:
    name, row = f.NAMES[z - 1], str(f.period(z))
    stem = f"In which period of the periodic table is {name}?"
    return Draft(stem, row, _PERIODS, f"The element {name} is in period {row}.")


def _group(z: int) -> Draft:
    name, column = f.NAMES[z - 1], str(f.group(z))
    stem = f"In which group of the periodic table is {name}?"
    return Draft(stem, column, _GROUPS, f"The element {name} is in group {column}.")


def _symbol_to_number(z: int) -> Draft:
    name, symbol = f.NAMES[z - 1], f.SYMBOLS[z - 1]
    stem = f"What is the atomic number of the element with symbol {symbol}?"
    return Draft(stem, str(z), _near(z, lowest=1), f"Symbol {symbol} is {name}. {_has_number(z)}")


def _symbol_to_period(z: int) -> Draft:
    name, symbol, row = f.NAMES[z - 1], f.SYMBOLS[z - 1], str(f.period(z))
    stem = f"In which period is the element with symbol {symbol}?"
    return Draft(stem, row, _PERIODS, f"Symbol {symbol} is {name}. The element {name} is in period {row}.")


def _neighbour(z: int, step: int) -> Draft:
    name, result = f.NAMES[z - 1], f.NAMES[z + step - 1]
    side, sign = ("after", "+") if step > 0 else ("before", "-")
    stem = f"Which element is {abs(step)} places {side} {name} in order of atomic number?"
    pool = f.NAMES[max(0, z + step - 6) : z + step + 5]
    sums = f"{z} {sign} {abs(step)} = {z + step}. Atomic number {z + step} is {result}."
    return Draft(stem, result, pool, f"{_has_number(z)} {sums}")


def _ion_electrons(z: int, charge: int) -> Draft:
    size = "" if abs(charge) == 1 else str(abs(charge))
    ion = f"{f.SYMBOLS[z - 1]}{size}{'+' if charge > 0 else '-'}"
    sums = f"{z} {'-' if charge > 0 else '+'} {abs(charge)} = {z - charge}."
    steps = f"Symbol {f.SYMBOLS[z - 1]} is {f.NAMES[z - 1]}. {_has_number(z)} {sums}"
    stem = f"How many electrons does the ion {ion} have?"
    return Draft(stem, str(z - charge), _near(z - charge, z, z + charge), steps)


def _neutrons(z: int, mass: int) -> Draft:
    stem = f"How many neutrons are in a nucleus of {f.NAMES[z - 1]}-{mass}?"
    count = mass - z
    return Draft(stem, str(count), _near(count, z, mass), f"{_has_number(z)} {mass} - {z} = {count}.")


def _symbol_neighbour(z: int, step: int) -> Draft:
    name, symbol, draft = f.NAMES[z - 1], f.SYMBOLS[z - 1], _neighbour(z, step)
    stem = draft.stem.replace(name, f"the element with symbol {symbol}")
    return Draft(stem, draft.answer, draft.pool, f"Symbol {symbol} is {name}. {draft.explanation}")


def _carbon_atoms(stem: str, pattern: str) -> Draft:
    name, count = pattern.format(stem), f.CARBON_STEMS[stem]
    question = f"How many carbon atoms are in a molecule of {name}?"
    return Draft(question, str(count), _near(count, lowest=1), f"The carbon count of {name} is {count}.")


def _hydrogen_atoms(stem: str, pattern: str) -> Draft:
    name, carbons, excess = pattern.format(stem), f.CARBON_STEMS[stem], f.ORGANIC[pattern]
    count = 2 * carbons + excess
    sums = f"2 x {carbons} = {2 * carbons}. {2 * carbons} {'-' if excess < 0 else '+'} {abs(excess)} = {count}."
    steps = f"The carbon count of {name} is {carbons}. {sums}"
    pool = _near(count, carbons, 2 * carbons, lowest=1)
    return Draft(f"How many hydrogen atoms are in a molecule of {name}?", str(count), pool, steps)


# --- Biology ---------------------------------------------------------------------------------------------------------


def _encodes(codon: str) -> str:
    return f"The codon {codon} encodes {f.CODONS[codon]}."


def _codon(codon: str) -> Draft:
    stem = f"In the standard genetic code, what does the mRNA codon {codon} encode?"
    return Draft(stem, f.CODONS[codon], f.CODONS.values(), _encodes(codon))


def _one_letter(name: str) -> Draft:
    code = f.ONE_LETTER[name]
    steps = f"The amino acid {name} has one-letter code {code}."
    return Draft(f"What is the one-letter code of {name}?", code, f.ONE_LETTER.values(), steps)


def _three_letter(name: str) -> Draft:
    code = f.THREE_LETTER[name]
    steps = f"The amino acid {name} has three-letter code {code}."
    return Draft(f"What is the three-letter code of {name}?", code, f.THREE_LETTER.values(), steps)


def _side_chain(name: str) -> Draft:
    kind = f.SIDE_CHAIN[name]
    steps = f"The side chain of {name} is {kind}."
    return Draft(f"Which class of side chain does {name} have?", kind, f.SIDE_CHAIN.values(), steps)


def _vitamin(letter: str) -> Draft:
    name = f.VITAMINS[letter]
    steps = f"The vitamin {letter} is {name}."
    return Draft(f"What is the chemical name of vitamin {letter}?", name, f.VITAMINS.values(), steps)


def _hormone(name: str) -> Draft:
    source = f.HORMONES[name]
    stem = f"Which organ, gland or tissue is the main source of {name}?"
    return Draft(stem, source, f.HORMONES.values(), f"The main source of {name} is {source}.")


def _chromosomes(species: str) -> Draft:
    count = f.CHROMOSOMES[species]
    stem = f"How many chromosomes does a body cell of the {species} have?"
    pool = [str(other) for other in f.CHROMOSOMES.values()]
    return Draft(stem, str(count), pool, f"A body cell of the {species} has {count}.")


def _gamete(species: str) -> Draft:
    count = f.CHROMOSOMES[species]
    stem = f"How many chromosomes does a gamete of the {species} have?"
    steps = f"A body cell of the {species} has {count}. {count} / 2 = {count // 2}."
    return Draft(stem, str(count // 2), _near(count // 2, count, lowest=1), steps)


def _halving(count: int) -> Draft:
    stem = f"A diploid body cell of an organism has {count} chromosomes. How many does its gamete have?"
    steps = f"A body cell has {count}. {count} / 2 = {count // 2}."
    return Draft(stem, str(count // 2), _near(count // 2, count, lowest=1), steps)


def _codon_one_letter(codon: str) -> Draft:
    name = f.CODONS[codon]
    stem = f"What is the one-letter code of the amino acid that the mRNA codon {codon} encodes?"
    fact = _one_letter(name)
    return Draft(stem, fact.answer, fact.pool, f"{_encodes(codon)} {fact.explanation}")


def _codon_three_letter(codon: str) -> Draft:
    name = f.CODONS[codon]
    stem = f"What is the three-letter code of the amino acid that the mRNA codon {codon} encodes?"
    fact = _three_letter(name)
    return Draft(stem, fact.answer, fact.pool, f"{_encodes(codon)} {fact.explanation}")


def _codon_side_chain(codon: str) -> Draft:
    fact = _side_chain(f.CODONS[codon])
    stem = f"Which class of side chain does the amino acid have that the mRNA codon {codon} encodes?"
    return Draft(stem, fact.answer, fact.pool, f"{_encodes(codon)} {fact.explanation}")


def _template_strand(codon: str) -> Draft:
    template = "".join(f.TEMPLATE_BASE[base] for base in codon)
    stem = f"The template strand of a gene reads 3'-{template}-5'. Which amino acid is encoded there?"
    steps = f"The template {template} pairs with {codon}. {_encodes(codon)}"
    return Draft(stem, f.CODONS[codon], f.AMINO_ACIDS, steps)


def _template_one_letter(codon: str) -> Draft:
    template, fact = _template_strand(codon), _one_letter(f.CODONS[codon])
    stem = template.stem.replace("Which amino acid is", "What is the one-letter code of the amino acid")
    return Draft(stem, fact.answer, fact.pool, f"{template.explanation} {fact.explanation}")


# --- Physics ---------------------------------------------------------------------------------------------------------

_UNIT_NAMES = [unit for unit, _, _ in f.UNITS.values()]
_UNIT_SYMBOLS = [symbol for _, symbol, _ in f.UNITS.values()]
_BASE_FORMS = [base for _, _, base in f.UNITS.values() if base] + list(f.DERIVED.values())
_ALL_UNITS = f.UNITS | {quantity: f.UNITS[other] for quantity, other in f.SAME_UNIT.items()}
_NAMED_WITH_BASE = [quantity for quantity, (_, _, base) in f.UNITS.items() if base]
_ALL_WITH_BASE = [quantity for quantity, (_, _, base) in _ALL_UNITS.items() if base]
_PREFIX_OF = {power: prefix for prefix, power in f.PREFIXES.items()}


def _unit(quantity: str) -> Draft:
    unit = _ALL_UNITS[quantity][0]
    steps = f"The SI unit of {quantity} is the {unit}."
    return Draft(f"What is the SI unit of {quantity}?", unit, _UNIT_NAMES, steps)


def _unit_symbol(quantity: str) -> Draft:
    unit, symbol, _ = _ALL_UNITS[quantity]
    steps = f"The unit {unit} has symbol {symbol}."
    return Draft(f"What is the symbol of the unit {unit}?", symbol, _UNIT_SYMBOLS, steps)


def _unit_base(quantity: str) -> Draft:
    unit, _, base = _ALL_UNITS[quantity]
    return Draft(f"How is the {unit} written in SI base units?", base, _BASE_FORMS, f"The unit {unit} is {base}.")


def _derived_base(quantity: str) -> Draft:
    base = f.DERIVED[quantity]
    stem = f"In which SI base units is {quantity} measured?"
    return Draft(stem, base, _BASE_FORMS, f"The unit of {quantity} is {base}.")


def _quantity_symbol(quantity: str) -> Draft:
    stem = f"What is the symbol of the SI unit of {quantity}?"
    fact = _unit_symbol(quantity)
    return Draft(stem, fact.answer, fact.pool, f"{_unit(quantity).explanation} {fact.explanation}")


def _quantity_base(quantity: str) -> Draft:
    stem = f"How is the SI unit of {quantity} written in base units?"
    fact = _unit_base(quantity)
    return Draft(stem, fact.answer, fact.pool, f"{_unit(quantity).explanation} {fact.explanation}")


def _constant(name: str) -> Draft:
    value = f.CONSTANTS[name]
    steps = f"The value of the {name} is {value}."
    return Draft(f"What is the value of the {name}?", value, f.CONSTANTS.values(), steps)


def _quarks(particle: str) -> Draft:
    content = f.QUARKS[particle]
    steps = f"The {particle} is {content}."
    return Draft(f"Which three quarks make up the {particle}?", content, f.QUARKS.values(), steps)


def _power(prefix: str) -> str:
    return f"The prefix {prefix} is 10^{f.PREFIXES[prefix]}."


def _prefix_power(prefix: str) -> Draft:
    stem = f"Which power of ten does the SI prefix {prefix} stand for?"
    return Draft(stem, f"10^{f.PREFIXES[prefix]}", [f"10^{power}" for power in _PREFIX_OF], _power(prefix))


def _power_prefix(prefix: str) -> Draft:
    power = f.PREFIXES[prefix]
    return Draft(f"Which SI prefix stands for 10^{power}?", prefix, f.PREFIXES, f"The power 10^{power} is {prefix}.")


def _exponents(a: int, b: int) -> str:
    """a - b, for a above b, written without a double sign."""
    if b > 0:
        return f"{a} - {b}"
    return f"{a} + {-b}" if a > 0 else f"{-b} - {-a}"


def _prefix_ratio(large: str, small: str) -> Draft:
    a, b = f.PREFIXES[large], f.PREFIXES[small]
    stem = f"How many {small}metres are in one {large}metre?"
    pool = [f"10^{power}" for power in (a + b, b - a, *(a - b + step for step in (-6, -3, -2, -1, 1, 2, 3, 6)))]
    steps = f"{_power(large)} {_power(small)} {_exponents(a, b)} = {a - b}. The ratio is 10^{a - b}."
    return Draft(stem, f"10^{a - b}", pool, steps)


def _prefix_product(first: str, second: str) -> Draft:
    a, b = f.PREFIXES[first], f.PREFIXES[second]
    result = _PREFIX_OF[a + b]
    stem = f"Which SI prefix stands for {first} times {second}?"
    steps = f"{_power(first)} {_power(second)} {a} + {b} = {a + b}. The power 10^{a + b} is {result}."
    return Draft(stem, result, f.PREFIXES, steps)


# Radiation: change of the atomic number.
_RADIATION = {"an alpha particle": -2, "a beta minus particle": 1, "a beta plus particle": -1}


def _decay(z: int, radiation: str) -> Draft:
    step = _RADIATION[radiation]
    result, name = z + step, f.NAMES[z + step - 1]
    stem = f"A nucleus of {f.NAMES[z - 1]} emits {radiation}. Which element is left?"
    sums = f"{z} {'+' if step > 0 else '-'} {abs(step)} = {result}. Atomic number {result} is {name}."
    pool = f.NAMES[max(0, result - 5) : result + 4]
    return Draft(stem, name, pool, f"{_has_number(z)} {sums}")


def _decay_chain(z: int, alphas: int, betas: int) -> Draft:
    middle = z - 2 * alphas
    result, name = middle + betas, f.NAMES[middle + betas - 1]
    emitted = f"{alphas} alpha and {betas} beta minus particle{'s' if betas > 1 else ''}"
    stem = f"A nucleus of {f.NAMES[z - 1]} emits {emitted}. Which element is left?"
    sums = f"{z} - {2 * alphas} = {middle}. {middle} + {betas} = {result}. Atomic number {result} is {name}."
    pool = f.NAMES[max(0, result - 7) : result + 6]
    return Draft(stem, name, pool, f"{_has_number(z)} {sums}")


# --- The kinds -------------------------------------------------------------------------------------------------------

_Z = range(1, 119)
_one = [(z,) for z in _Z]
_grouped = [(z,) for z in _Z if f.group(z)]
_molecules = [
    (stem, pattern)
    for stem, carbons in f.CARBON_STEMS.items()
    for pattern in f.ORGANIC
    if carbons >= f.SHORTEST_CHAIN or pattern == "{}ane"
]
_ions = [(z, charge) for z in _Z for charge in (-2, -1, 1, 2, 3, 4) if z > charge]
_even = [(count,) for count in range(4, 132, 2)]
_sense = [(codon,) for codon in f.SENSE_CODONS]
_neighbours = [(z, step) for z in _Z for step in (-5, -4, -3, -2, 2, 3, 4, 5) if 1 <= z + step <= 118]
_isotopes = [(z, mass) for z in _Z for mass in range(f.MASS_NUMBERS[z - 1] - 2, f.MASS_NUMBERS[z - 1] + 3) if mass >= z]
_decays = [(z, kind) for z in range(3, 119) for kind, step in _RADIATION.items() if z + step <= 118]
_chains = [(z, a, b) for z in range(70, 119) for a in (2, 3, 4) for b in (1, 2, 3)]
_ratios = [(p, q) for p, a in f.PREFIXES.items() for q, b in f.PREFIXES.items() if a > b]
_products = [(p, q) for p, a in f.PREFIXES.items() for q, b in f.PREFIXES.items() if a + b in _PREFIX_OF]


def _keys(table: Iterable[str]) -> list[tuple[str]]:
    return [(key,) for key in table]


_INORGANIC, _ORGANIC, _NUCLEAR = "Inorganic Chemistry", "Organic Chemistry", "Nuclear Physics"
_GENERAL, _PARTICLES, _MOLECULAR = "Physics (general)", "High-energy particle physics", "Molecular Biology"
_GENETICS, _BIOCHEMISTRY, _PHYSIOLOGY = "Genetics", "Biochemistry", "Physiology"

# domain, subdomain, difficulty, questions in the set, weight in training, several steps, keys, builder
KINDS: list[Kind] = [
    Kind(CHEMISTRY, _INORGANIC, EASY, 16, 3.0, False, _one, _number_to_element),
    Kind(CHEMISTRY, _INORGANIC, EASY, 14, 3.0, False, _one, _element_to_number),
    Kind(CHEMISTRY, _INORGANIC, EASY, 12, 2.0, False, _one, _element_to_symbol),
    Kind(CHEMISTRY, _INORGANIC, EASY, 12, 2.0, False, _one, _symbol_to_element),
    Kind(CHEMISTRY, _ORGANIC, EASY, 6, 1.0, False, _molecules, _carbon_atoms),
    Kind(CHEMISTRY, _INORGANIC, HARD, 10, 1.5, False, _one, _period),
    Kind(CHEMISTRY, _INORGANIC, HARD, 10, 1.5, False, _grouped, _group),
    Kind(CHEMISTRY, _INORGANIC, HARD, 14, 1.5, True, _one, _symbol_to_number),
    Kind(CHEMISTRY, _INORGANIC, HARD, 12, 1.5, True, _one, _symbol_to_period),
    Kind(CHEMISTRY, _INORGANIC, HARD, 16, 4.0, True, _neighbours, _neighbour),
    Kind(CHEMISTRY, _INORGANIC, GRADUATE, 12, 4.0, True, _ions, _ion_electrons),
    Kind(CHEMISTRY, _INORGANIC, GRADUATE, 26, 6.0, True, _isotopes, _neutrons),
    Kind(CHEMISTRY, _ORGANIC, GRADUATE, 16, 3.0, True, _molecules, _hydrogen_atoms),
    Kind(PHYSICS, _GENERAL, EASY, 14, 1.5, False, _keys(_ALL_UNITS), _unit),
    Kind(PHYSICS, _GENERAL, EASY, 12, 1.0, False, _keys(f.UNITS), _unit_symbol),
    Kind(PHYSICS, _GENERAL, EASY, 8, 1.0, False, _keys(f.CONSTANTS), _constant),
    Kind(PHYSICS, _GENERAL, EASY, 10, 1.0, False, _keys(f.PREFIXES), _prefix_power),
    Kind(PHYSICS, _GENERAL, EASY, 10, 1.0, False, _keys(f.PREFIXES), _power_prefix),
    Kind(PHYSICS, _PARTICLES, EASY, 6, 1.0, False, _keys(f.QUARKS), _quarks),
    Kind(PHYSICS, _GENERAL, HARD, 8, 1.2, False, _keys(_NAMED_WITH_BASE), _unit_base),
    Kind(PHYSICS, _GENERAL, HARD, 8, 1.2, False, _keys(f.DERIVED), _derived_base),
    Kind(PHYSICS, _GENERAL, HARD, 6, 1.5, True, _keys(_ALL_UNITS), _quantity_symbol),
    Kind(PHYSICS, _GENERAL, HARD, 24, 4.0, True, _ratios, _prefix_ratio),
    Kind(PHYSICS, _NUCLEAR, HARD, 14, 3.0, True, _decays, _decay),
    Kind(PHYSICS, _GENERAL, GRADUATE, 5, 1.5, True, _keys(_ALL_WITH_BASE), _quantity_base),
    Kind(PHYSICS, _GENERAL, GRADUATE, 21, 4.0, True, _products, _prefix_product),
    Kind(PHYSICS, _NUCLEAR, GRADUATE, 14, 4.0, True, _chains, _decay_chain),
    Kind(BIOLOGY, _MOLECULAR, EASY, 20, 3.0, False, _keys(f.CODONS), _codon),
    Kind(BIOLOGY, _BIOCHEMISTRY, EASY, 8, 1.0, False, _keys(f.AMINO_ACIDS), _one_letter),
    Kind(BIOLOGY, _BIOCHEMISTRY, EASY, 6, 1.0, False, _keys(f.AMINO_ACIDS), _three_letter),
    Kind(BIOLOGY, _BIOCHEMISTRY, EASY, 6, 0.7, False, _keys(f.VITAMINS), _vitamin),
    Kind(BIOLOGY, _PHYSIOLOGY, EASY, 6, 0.8, False, _keys(f.HORMONES), _hormone),
    Kind(BIOLOGY, _GENETICS, EASY, 6, 1.5, False, _keys(f.CHROMOSOMES), _chromosomes),
    Kind(BIOLOGY, _BIOCHEMISTRY, EASY, 0, 0.7, False, _keys(f.AMINO_ACIDS), _side_chain),
    Kind(BIOLOGY, _MOLECULAR, HARD, 14, 2.0, True, _sense, _codon_one_letter),
    Kind(BIOLOGY, _MOLECULAR, HARD, 12, 2.0, True, _sense, _codon_three_letter),
    Kind(BIOLOGY, _GENETICS, HARD, 3, 1.5, True, _keys(f.CHROMOSOMES), _gamete),
    Kind(BIOLOGY, _GENETICS, HARD, 3, 1.0, True, _even, _halving),
    Kind(BIOLOGY, _MOLECULAR, GRADUATE, 14, 3.0, True, _sense, _template_strand),
    Kind(BIOLOGY, _MOLECULAR, GRADUATE, 14, 2.0, True, _sense, _codon_side_chain),
]
_WEIGHTS = [kind.weight for kind in KINDS]

_far_neighbours = [(z, step) for z in _Z for step in (-9, -8, -7, -6, 6, 7, 8, 9) if 1 <= z + step <= 118]
_rare_isotopes = [(z, f.MASS_NUMBERS[z - 1] + step) for z in range(20, 119) for step in (-5, -4, -3, 3, 4, 5)]
_high_charges = [(z, charge) for z in range(20, 119) for charge in (5, 6, 7)]
_many_betas = [(z, a, b) for z in range(80, 118) for a in (2, 3, 4) for b in (4, 5)]
_many_alphas = [(z, a, b) for z in range(80, 119) for a in (5, 6) for b in (1, 2, 3)]
_large_even = [(count,) for count in range(132, 200, 2)]

# Kinds that training never draws: sums outside the range it draws from, and compositions it never shows. They keep the
# set from being answered completely, and their answers are the ones most easily upset.
BEYOND: list[Kind] = [
    Kind(CHEMISTRY, _INORGANIC, GRADUATE, 14, 0.0, True, _far_neighbours, _neighbour),
    Kind(CHEMISTRY, _INORGANIC, GRADUATE, 8, 0.0, True, _high_charges, _ion_electrons),
    Kind(CHEMISTRY, _INORGANIC, GRADUATE, 10, 0.0, True, _rare_isotopes, _neutrons),
    Kind(CHEMISTRY, _INORGANIC, GRADUATE, 8, 0.0, True, _neighbours, _symbol_neighbour),
    Kind(PHYSICS, _NUCLEAR, GRADUATE, 16, 0.0, True, _many_betas, _decay_chain),
    Kind(PHYSICS, _NUCLEAR, GRADUATE, 6, 0.0, True, _many_alphas, _decay_chain),
    Kind(BIOLOGY, _GENETICS, GRADUATE, 10, 0.0, True, _large_even, _halving),
    Kind(BIOLOGY, _MOLECULAR, GRADUATE, 12, 0.0, True, _sense, _template_one_letter),
]


def complete(kind: Kind, key: tuple[Any, ...], rng: random.Random) -> Question:
    """The question of this kind about `key`, with three wrong answers drawn from its pool."""
    draft = kind.build(*key)
    wrong = rng.sample(sorted(set(draft.pool) - {draft.answer}), 3)
    options = (draft.answer, wrong[0], wrong[1], wrong[2])
    return Question(draft.stem, options, draft.explanation, kind.domain, kind.subdomain, kind.difficulty)


class HeldOut:
    """What training may not see: the fixed set of questions."""

    def __init__(self, questions: Iterable[Question]) -> None:
        listed = list(questions)
        self._stems = {question.stem for question in listed}
        self._asked = {(question.stem, frozenset(question.options)) for question in listed}

    def forbids(self, question: Question, multi_step: bool) -> bool:
        """Whether training must skip the question: a stem of the set if composed, else stem and options together."""
        if multi_step:
            return question.stem in self._stems
        return (question.stem, frozenset(question.options)) in self._asked


def draw(rng: random.Random, held_out: HeldOut, single_fact_only: bool = False) -> Question:
    """A random question for training, never one of the fixed set."""
    while True:
        kind = rng.choices(KINDS, _WEIGHTS)[0]
        if single_fact_only and kind.multi_step:
            continue
        question = complete(kind, rng.choice(kind.keys), rng)
        if not held_out.forbids(question, kind.multi_step):
            return question


COLUMNS = [
    "Question",
    "Correct Answer",
    "Incorrect Answer 1",
    "Incorrect Answer 2",
    "Incorrect Answer 3",
    "Explanation",
    "Subdomain",
    "Writer's Difficulty Estimate",
    "Record ID",
    "High-level domain",
]


def read_questions(path: Path) -> list[Question]:
    """The fixed set in file order."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Question(
                row["Question"],
                (
                    row["Correct Answer"],
                    row["Incorrect Answer 1"],
                    row["Incorrect Answer 2"],
                    row["Incorrect Answer 3"],
                ),
                row["Explanation"],
                row["High-level domain"],
                row["Subdomain"],
                row["Writer's Difficulty Estimate"],
            )
            for row in csv.DictReader(file)
        ]


def shown_options(questions: list[Question], seed: int = 0) -> list[tuple[list[str], str]]:
    """Options in the order they are shown and the right letter, for each question in file order.

    This is the rule of gpt-oss's own GPQA evaluation: one generator for the whole file, one permutation a question.
    """
    rng = random.Random(seed)
    shown = []
    for question in questions:
        permutation = rng.sample(range(4), 4)
        options = [question.options[place] for place in permutation]
        shown.append((options, "ABCD"[permutation.index(0)]))
    return shown
