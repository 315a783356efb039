"""Science facts that the questions are made of.

Everything here is textbook knowledge in the three domains of GPQA. The tables hold facts only; what is asked about
them is in questions.py.
"""

from __future__ import annotations

# --- Chemistry -------------------------------------------------------------------------------------------------------

# Name, symbol and the mass number of the commonest (or, without a stable one, longest-lived well known) isotope.
_ELEMENTS = """
Hydrogen H 1, Helium He 4, Lithium Li 7, Beryllium Be 9, Boron B 11, Carbon C 12, Nitrogen N 14, Oxygen O 16,
Fluorine F 19, Neon Ne 20, Sodium Na 23, Magnesium Mg 24, Aluminium Al 27, Silicon Si 28, Phosphorus P 31,
Sulfur S 32, Chlorine Cl 35, Argon Ar 40, Potassium K 39, Calcium Ca 40, Scandium Sc 45, Titanium Ti 48,
Vanadium V 51, Chromium Cr 52, Manganese Mn 55, Iron Fe 56, Cobalt Co 59, Nickel Ni 58, Copper Cu 63, Zinc Zn 64,
Gallium Ga 69, Germanium Ge 74, Arsenic As 75, Selenium Se 80, Bromine Br 79, Krypton Kr 84, Rubidium Rb 85,
Strontium Sr 88, Yttrium Y 89, Zirconium Zr 90, Niobium Nb 93, Molybdenum Mo 98, Technetium Tc 98, Ruthenium Ru 102,
Rhodium Rh 103, Palladium Pd 106, Silver Ag 107, Cadmium Cd 114, Indium In 115, Tin Sn 120, Antimony Sb 121,
Tellurium Te 130, Iodine I 127, Xenon Xe 132, Caesium Cs 133, Barium Ba 138, Lanthanum La 139, Cerium Ce 140,
Praseodymium Pr 141, Neodymium Nd 142, Promethium Pm 145, Samarium Sm 152, Europium Eu 153, Gadolinium Gd 158,
Terbium Tb 159, Dysprosium Dy 164, Holmium Ho 165, Erbium Er 166, Thulium Tm 169, Ytterbium Yb 174, Lutetium Lu 175,
Hafnium Hf 180, Tantalum Ta 181, Tungsten W 184, Rhenium Re 187, Osmium Os 192, Iridium Ir 193, Platinum Pt 195,
Gold Au 197, Mercury Hg 202, Thallium Tl 205, Lead Pb 208, Bismuth Bi 209, Polonium Po 209, Astatine At 210,
Radon Rn 222, Francium Fr 223, Radium Ra 226, Actinium Ac 227, Thorium Th 232, Protactinium Pa 231, Uranium U 238,
Neptunium Np 237, Plutonium Pu 244, Americium Am 243, Curium Cm 247, Berkelium Bk 247, Californium Cf 251,
Einsteinium Es 252, Fermium Fm 257, Mendelevium Md 258, Nobelium No 259, Lawrencium Lr 262, Rutherfordium Rf 267,
Dubnium Db 268, Seaborgium Sg 269, Bohrium Bh 270, Hassium Hs 269, Meitnerium Mt 278, Darmstadtium Ds 281,
Roentgenium Rg 282, Copernicium Cn 285, Nihonium Nh 286, Flerovium Fl 289, Moscovium Mc 290, Livermorium Lv 293,
Tennessine Ts 294, Oganesson Og 294
"""

_ROWS = [entry.split() for entry in _ELEMENTS.replace("\n", " ").split(",")]
NAMES: list[str] = [row[0] for row in _ROWS]
SYMBOLS: list[str] = [row[1] for row in _ROWS]
MASS_NUMBERS: list[int] = [int(row[2]) for row in _ROWS]
assert len(NAMES) == 118

_NOBLE_GASES = [2, 10, 18, 36, 54, 86, 118]


def period(number: int) -> int:
    """The period (row of the periodic table) of the element with this atomic number."""
    return next(row for row, last in enumerate(_NOBLE_GASES, start=1) if number <= last)


def group(number: int) -> int | None:
    """The IUPAC group, or None for the f block and its first elements, where books disagree."""
    if number == 1:
        return 1
    if number == 2:
        return 18
    row = period(number)
    place = number - [0, *_NOBLE_GASES][row - 1]
    if place <= 2:
        return place
    if row <= 3:
        return place + 10
    if row <= 5:
        return place
    return place - 14 if place >= 18 else None


_STEMS = """
meth eth prop but pent hex hept oct non dec
undec dodec tridec tetradec pentadec hexadec heptadec octadec nonadec icos
"""
CARBON_STEMS: dict[str, int] = {stem: count for count, stem in enumerate(_STEMS.split(), start=1)}

# Name with the carbon stem left open, and hydrogen atoms in excess of two for each carbon atom.
ORGANIC: dict[str, int] = {
    "{}ane": 2,
    "cyclo{}ane": 0,
    "{}-1-ene": 0,
    "{}-1-yne": -2,
    "{}a-1,3-diene": -2,
    "{}an-1-ol": 2,
    "{}anal": 0,
    "{}an-2-one": 0,
    "{}anoic acid": 0,
    "{}an-1-amine": 3,
}
SHORTEST_CHAIN = 4  # shorter chains need no numbers in their names, or do not exist; alkanes start at 1

# --- Biology ---------------------------------------------------------------------------------------------------------

# Three-letter code, one-letter code, name and class of the side chain.
_AMINO_ACIDS = """
Ala A Alanine nonpolar, Arg R Arginine basic, Asn N Asparagine polar, Asp D Aspartate acidic, Cys C Cysteine polar,
Gln Q Glutamine polar, Glu E Glutamate acidic, Gly G Glycine nonpolar, His H Histidine basic, Ile I Isoleucine nonpolar,
Leu L Leucine nonpolar, Lys K Lysine basic, Met M Methionine nonpolar, Phe F Phenylalanine nonpolar,
Pro P Proline nonpolar, Ser S Serine polar, Thr T Threonine polar, Trp W Tryptophan nonpolar, Tyr Y Tyrosine polar,
Val V Valine nonpolar
"""
_AA_ROWS = [entry.split() for entry in _AMINO_ACIDS.replace("\n", " ").split(",")]
THREE_LETTER: dict[str, str] = {name: three for three, _, name, _ in _AA_ROWS}
ONE_LETTER: dict[str, str] = {name: one for _, one, name, _ in _AA_ROWS}
SIDE_CHAIN: dict[str, str] = {name: kind for _, _, name, kind in _AA_ROWS}
AMINO_ACIDS: list[str] = list(ONE_LETTER)

_BASES = "UCAG"
_CODE = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
_BY_LETTER = {letter: name for name, letter in ONE_LETTER.items()} | {"*": "a stop signal"}
CODONS: dict[str, str] = {
    a + b + c: _BY_LETTER[_CODE[16 * i + 4 * j + k]]
    for i, a in enumerate(_BASES)
    for j, b in enumerate(_BASES)
    for k, c in enumerate(_BASES)
}
SENSE_CODONS: list[str] = [codon for codon, name in CODONS.items() if name in ONE_LETTER]
TEMPLATE_BASE: dict[str, str] = {"U": "A", "C": "G", "A": "T", "G": "C"}

VITAMINS: dict[str, str] = {
    "A": "retinol",
    "B1": "thiamine",
    "B2": "riboflavin",
    "B3": "niacin",
    "B5": "pantothenic acid",
    "B6": "pyridoxine",
    "B7": "biotin",
    "B9": "folic acid",
    "B12": "cobalamin",
    "C": "ascorbic acid",
    "D2": "ergocalciferol",
    "D3": "cholecalciferol",
    "E": "tocopherol",
    "K1": "phylloquinone",
}

HORMONES: dict[str, str] = {
    "insulin": "pancreas",
    "glucagon": "pancreas",
    "thyroxine": "thyroid gland",
    "calcitonin": "thyroid gland",
    "cortisol": "adrenal cortex",
    "aldosterone": "adrenal cortex",
    "adrenaline": "adrenal medulla",
    "melatonin": "pineal gland",
    "growth hormone": "anterior pituitary",
    "prolactin": "anterior pituitary",
    "thyrotropin": "anterior pituitary",
    "corticotropin": "anterior pituitary",
    "testosterone": "testes",
    "oestradiol": "ovaries",
    "erythropoietin": "kidneys",
    "gastrin": "stomach",
    "ghrelin": "stomach",
    "secretin": "duodenum",
    "leptin": "adipose tissue",
    "atrial natriuretic peptide": "heart",
    "thymosin": "thymus",
    "angiotensinogen": "liver",
}

# Chromosomes in a body cell.
_CHROMOSOMES = """
human 46, chimpanzee 48, gorilla 48, orangutan 48, rhesus macaque 42, mouse 40, rat 42, guinea pig 64, golden hamster
44, rabbit 44, hare 48, dog 78, wolf 78, red fox 34, cat 38, lion 38, tiger 38, giant panda 42, horse 64, donkey 62,
cow 60, pig 38, sheep 54, goat 60, camel 74, elephant 56, red kangaroo 20, platypus 52, chicken 78, turkey 80, pigeon
80, clawed frog 36, zebrafish 50, carp 100, fruit fly 8, housefly 12, mosquito 6, honeybee queen 32, silkworm 56,
garden pea 14, maize 20, rice 24, barley 14, rye 14, bread wheat 42, oat 42, tomato 24, potato 48, tobacco 48, pepper
24, thale cress 10, onion 16, carrot 18, cabbage 18, radish 18, lettuce 18, sugar beet 18, spinach 12, cucumber 14,
watermelon 22, cotton 52, soybean 40, peanut 40, sunflower 34, apple 34, coffee plant 44
"""
CHROMOSOMES: dict[str, int] = {
    species: int(count)
    for species, count in (entry.strip().rsplit(" ", 1) for entry in _CHROMOSOMES.replace("\n", " ").split(","))
}

# --- Physics ---------------------------------------------------------------------------------------------------------

# Quantity: SI unit, its symbol, and the unit in base units (empty for base units and for units whose base form is
# shared with another unit of this table).
UNITS: dict[str, tuple[str, str, str]] = {
    "force": ("newton", "N", "kg m s^-2"),
    "energy": ("joule", "J", "kg m^2 s^-2"),
    "power": ("watt", "W", "kg m^2 s^-3"),
    "pressure": ("pascal", "Pa", "kg m^-1 s^-2"),
    "electric charge": ("coulomb", "C", "A s"),
    "electric potential": ("volt", "V", "kg m^2 s^-3 A^-1"),
    "electrical resistance": ("ohm", "Ω", "kg m^2 s^-3 A^-2"),
    "capacitance": ("farad", "F", "kg^-1 m^-2 s^4 A^2"),
    "magnetic flux": ("weber", "Wb", "kg m^2 s^-2 A^-1"),
    "magnetic flux density": ("tesla", "T", "kg s^-2 A^-1"),
    "inductance": ("henry", "H", "kg m^2 s^-2 A^-2"),
    "frequency": ("hertz", "Hz", "s^-1"),
    "electrical conductance": ("siemens", "S", "kg^-1 m^-2 s^3 A^2"),
    "absorbed dose": ("gray", "Gy", "m^2 s^-2"),
    "catalytic activity": ("katal", "kat", "mol s^-1"),
    "length": ("metre", "m", ""),
    "mass": ("kilogram", "kg", ""),
    "time": ("second", "s", ""),
    "electric current": ("ampere", "A", ""),
    "temperature": ("kelvin", "K", ""),
    "amount of substance": ("mole", "mol", ""),
    "luminous intensity": ("candela", "cd", ""),
    "plane angle": ("radian", "rad", ""),
    "solid angle": ("steradian", "sr", ""),
    "luminous flux": ("lumen", "lm", ""),
    "illuminance": ("lux", "lx", ""),
    "radioactivity": ("becquerel", "Bq", ""),
    "equivalent dose": ("sievert", "Sv", ""),
}

# Quantities measured in the unit of another one.
SAME_UNIT: dict[str, str] = {
    "weight": "force",
    "thrust": "force",
    "friction": "force",
    "tension": "force",
    "work": "energy",
    "heat": "energy",
    "enthalpy": "energy",
    "internal energy": "energy",
    "kinetic energy": "energy",
    "heat flow rate": "power",
    "radiant flux": "power",
    "stress": "pressure",
    "elastic modulus": "pressure",
    "voltage": "electric potential",
    "electromotive force": "electric potential",
    "impedance": "electrical resistance",
    "reactance": "electrical resistance",
    "admittance": "electrical conductance",
    "mutual inductance": "inductance",
    "kerma": "absorbed dose",
    "wavelength": "length",
    "focal length": "length",
    "displacement": "length",
    "rest mass": "mass",
    "half-life": "time",
    "period": "time",
    "phase": "plane angle",
}

# Quantities whose SI unit has no name of its own.
DERIVED: dict[str, str] = {
    "acceleration": "m s^-2",
    "speed": "m s^-1",
    "momentum": "kg m s^-1",
    "density": "kg m^-3",
    "angular momentum": "kg m^2 s^-1",
    "dynamic viscosity": "kg m^-1 s^-1",
    "kinematic viscosity": "m^2 s^-1",
    "electric field strength": "kg m s^-3 A^-1",
    "surface tension": "kg s^-2",
    "heat capacity": "kg m^2 s^-2 K^-1",
    "specific heat capacity": "m^2 s^-2 K^-1",
    "thermal conductivity": "kg m s^-3 K^-1",
    "permittivity": "kg^-1 m^-3 s^4 A^2",
    "permeability": "kg m s^-2 A^-2",
    "molar mass": "kg mol^-1",
    "current density": "A m^-2",
}

CONSTANTS: dict[str, str] = {
    "speed of light": "2.998 x 10^8 m/s",
    "Planck constant": "6.626 x 10^-34 J s",
    "elementary charge": "1.602 x 10^-19 C",
    "Boltzmann constant": "1.381 x 10^-23 J/K",
    "Avogadro constant": "6.022 x 10^23 per mol",
    "electron mass": "9.109 x 10^-31 kg",
    "proton mass": "1.673 x 10^-27 kg",
    "gravitational constant": "6.674 x 10^-11 N m^2/kg^2",
    "vacuum permittivity": "8.854 x 10^-12 F/m",
    "vacuum permeability": "1.257 x 10^-6 H/m",
    "Rydberg constant": "1.097 x 10^7 per m",
    "Bohr radius": "5.292 x 10^-11 m",
    "Stefan-Boltzmann constant": "5.670 x 10^-8 W m^-2 K^-4",
    "Faraday constant": "9.649 x 10^4 C/mol",
    "molar gas constant": "8.314 J/(mol K)",
}

QUARKS: dict[str, str] = {
    "proton": "uud",
    "neutron": "udd",
    "Lambda zero": "uds",
    "Sigma plus": "uus",
    "Sigma minus": "dds",
    "Xi zero": "uss",
    "Xi minus": "dss",
    "Omega minus": "sss",
    "Delta plus plus": "uuu",
    "Delta minus": "ddd",
    "charmed Lambda plus": "udc",
    "charmed Sigma plus plus": "uuc",
    "charmed Omega zero": "ssc",
    "bottom Lambda zero": "udb",
    "double charmed Xi plus plus": "ucc",
}

PREFIXES: dict[str, int] = {
    "quetta": 30,
    "ronna": 27,
    "yotta": 24,
    "zetta": 21,
    "exa": 18,
    "peta": 15,
    "tera": 12,
    "giga": 9,
    "mega": 6,
    "kilo": 3,
    "hecto": 2,
    "deca": 1,
    "deci": -1,
    "centi": -2,
    "milli": -3,
    "micro": -6,
    "nano": -9,
    "pico": -12,
    "femto": -15,
    "atto": -18,
    "zepto": -21,
    "yocto": -24,
    "ronto": -27,
    "quecto": -30,
}
