"""Tables, graphs, matrices and expressions come out as they went in; forged ones are refused, and none is evaluated."""

import json
from itertools import product

import networkx
import numpy
import pandas
import pytest
import sympy

from grader.engine.rpc.message import ProtocolError
from grader.engine.rpc.objects.handles import ObjectHandle
from grader.engine.rpc.values.trees import Packer, unpack
from tests.engine.rpc.conftest import refuse

x, y = sympy.symbols("x y")
n = sympy.Symbol("n", integer=True)
f = sympy.Function("f")
TABLE = pandas.DataFrame(
    {
        "text": ["x", None],
        "string": pandas.array(["p", None], dtype="string"),
        "number": [1, 2],
        "small": numpy.float32([1, numpy.nan]),
        "masked": pandas.array([1, None], dtype="Int64"),
        "truth": pandas.array([True, None], dtype="boolean"),
        "when": pandas.to_datetime(["2024-01-01", None]),
        "where": pandas.to_datetime(["2024-01-01", "2024-07-02"]).tz_localize("Europe/Paris"),
        "long": pandas.to_timedelta([1, 2], "s"),
        "kind": pandas.Categorical(["u", "v"], ordered=True),
        "range": pandas.cut([1, 5], [0, 3, 6]),
        "mixed": pandas.Series([[1], "a"], dtype=object),
    }
)
TABLES = {
    "all kinds of columns": TABLE,
    "no column": TABLE[[]],
    "no row": TABLE.iloc[:0],
    "nothing": pandas.DataFrame(),
    "columns of one name": pandas.concat([TABLE, TABLE], axis=1),
    "text as index": TABLE.set_index("text"),
    "two levels": TABLE.set_index(["text", "number"]),
    "groups": TABLE.groupby("kind", observed=True)["number"].agg(["sum", "mean"]),
    "a cross table": pandas.crosstab(TABLE["number"], TABLE["kind"]),
    "days": pandas.DataFrame({"v": range(3)}, index=pandas.date_range("2024", periods=3)),
    "numbers": pandas.DataFrame(numpy.eye(3)),
}
SERIES = [TABLE["text"], TABLE["range"], TABLE["number"].value_counts(), pandas.Series(dtype=float, name=("a", 1))]
INDEXES = [
    pandas.Index(["a"], name="q"),
    pandas.Index([1, "a"], dtype=object),
    pandas.RangeIndex(3, name="r"),
    pandas.MultiIndex.from_product([[1, 2], ["a"]], names=["x", None]),
    pandas.date_range("2024", periods=3, freq="ME"),
    pandas.CategoricalIndex(["a"]),
    pandas.interval_range(0, 3),
]
SCALARS = [
    *(pandas.Timestamp("2024-01-02 03:04"), pandas.Timestamp("2024-01-02", tz="UTC"), pandas.Timedelta("1s")),
    pandas.Interval(0, 1, "left"),
]
EXPRESSIONS = [
    *(
        x**2 + 2 * x + 1,
        sympy.sin(x) * y / 3,
        sympy.pi + sympy.E,
        sympy.Float(2.5) * x,
        sympy.Integral(x**2, (x, 0, 1)),
    ),
    *(sympy.Eq(x, y), f(x).diff(x), sympy.Piecewise((x, x > 0), (0, True)), sympy.true, sympy.oo, sympy.Integer(7)),
    *(sympy.sqrt(2) * sympy.Symbol("p", positive=True), sympy.Sum(n, (n, 1, x)), sympy.FiniteSet(1, x)),
    *(
        sympy.ImmutableMatrix([[x]]),
        sympy.Lambda(x, x + 1),
        sympy.Mul(2, 3, evaluate=False),
        sympy.I,
        sympy.Tuple(),
        sympy.EmptySet,
    ),
]


def crossed(value):
    """Return the value as it arrives in the runner."""
    tensors = []
    tree = Packer(refuse, tensors, {}).walk(value, 0)
    return unpack(json.loads(json.dumps(tree)), [tensor.clone() for tensor in tensors], refuse)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables(table):
    """With their dtypes, indexes and names; as own ones, which may be written to."""
    arrived = crossed(table)
    pandas.testing.assert_frame_equal(arrived, table, check_freq=True)
    arrived["new"] = 1
    assert "new" not in table


def test_parts_of_tables():
    """Columns; indexes of the same class, with the frequency of dates; what one cell holds."""
    for series in SERIES:
        pandas.testing.assert_series_equal(crossed(series), series)
    for index in INDEXES:
        pandas.testing.assert_index_equal(crossed(index), index, exact=True)
        assert getattr(crossed(index), "freq", None) == getattr(index, "freq", None)
    assert [crossed(each) for each in SCALARS] == SCALARS
    assert crossed(pandas.NA) is pandas.NA and crossed(pandas.NaT) is pandas.NaT


def test_expressions():
    """Equal, of the same class and as they were written: nothing is simplified on the way. Matrices can be changed."""
    for expression in EXPRESSIONS:
        arrived = crossed(expression)
        assert arrived == expression and type(arrived) is type(expression) and str(arrived) == str(expression)
    arrived = crossed(sympy.Matrix([[x, 1], [2, y]]))
    assert arrived == sympy.Matrix([[x, 1], [2, y]])
    arrived[0, 0] = 5
    assert arrived.det() == 5 * y - 2


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
def test_graphs(kind):
    """With all attributes, and the neighbours of a node in their order, in which searches visit them."""
    graph = kind(name="g")
    graph.add_nodes_from("xyz", color="red")
    graph.add_edge("y", "z", weight=2)
    graph.add_edge("x", "z")
    arrived = crossed(graph)
    assert type(arrived) is kind and networkx.utils.graphs_equal(arrived, graph)
    assert {node: list(near) for node, near in arrived.adjacency()} == {
        node: list(near) for node, near in graph.adjacency()
    }


def test_sparse_matrices():
    """In their own format, as array or matrix. The library checks indexes before a product reads by them."""
    sparse = pytest.importorskip("scipy.sparse")
    for form, kind in product(["bsr", "coo", "csc", "csr", "dia", "dok", "lil"], ["array", "matrix"]):
        matrix = getattr(sparse, f"{form}_{kind}")(numpy.diag([1.0, 2.0]))
        arrived = crossed(matrix)
        assert type(arrived) is type(matrix) and (arrived.toarray() == matrix.toarray()).all()
    tensors = []
    trees = [Packer(refuse, tensors).walk(numpy.array([each]), 0) for each in (1.0, 10**6, 0)]
    with pytest.raises(ProtocolError):
        unpack({"library": ["scipy.csr_matrix", [[2, 2], *trees]]}, tensors, refuse)


RECORDS = numpy.array([(1, "2024"), (3, "2025")], dtype=[("a", int), ("b", "<M8[s]")])
OBJECTS = numpy.array([[[1, 2], "x"], [None, 3]], dtype=object)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_arrays_of_other_classes():
    """Records and objects, of the same class and dtype; masked arrays with their mask; a product of matrices is one."""
    for array in (RECORDS, RECORDS.view(numpy.recarray), OBJECTS):
        arrived = crossed(array)
        assert type(arrived) is type(array) and arrived.dtype == array.dtype and arrived.tolist() == array.tolist()
    masked = crossed(numpy.ma.masked_less(numpy.array([1, -1, 2]), 0))
    assert isinstance(masked, numpy.ma.MaskedArray) and masked.mask.tolist() == [False, True, False]
    matrix = crossed(numpy.array([[1, 2], [3, 4]]).view(numpy.matrix))
    assert (matrix * matrix).tolist() == [[7, 10], [15, 22]]


def test_what_has_other_parts_stays():
    """The sandbox keeps it, and sends a handle. The runner pickles values that a test hands over."""
    handle = ObjectHandle(object_id=3, name="x")
    for value in (
        pandas.DataFrame({"a": [object()]}),
        pandas.Series(pandas.period_range("2024", periods=2, freq="M")),
        type("Own", (pandas.DataFrame,), {})({"a": [1]}),
        x + sympy.Dummy("d"),
        networkx.Graph([(object(), 1)]),
    ):
        assert Packer(lambda item, place: handle, [], {}).walk([value], 0) == [{"handle": handle}]
    with pytest.raises(ProtocolError, match="no DataFrame"):
        Packer(refuse, []).walk(TABLE, 0)


def column(*parts):
    return {"library": ["pandas.Series", [None, {"library": ["pandas.RangeIndex", [None, 0, 1, 1]]}, list(parts)]]}


def expression(*parts):
    return {"library": ["sympy.expression", list(parts)]}


FORGED = [
    *({"library": content} for content in (5, [], ["pandas.DataFrame"], [["pandas"], []], ["os.system", ["id"]])),
    {"library": ["pandas.read_pickle", "/tmp/x"]},
    {"library": ["pandas.DataFrame", [[], [], []]]},
    {"library": ["pandas.DataFrame", {"handle": {"type": "ObjectHandle", "object_id": 7, "name": "f"}}]},
    {"library": ["pandas.Timestamp", ["2024-01-01", None]]},
    {"library": ["pandas.RangeIndex", [None, 0, 1, 0]]},
    {"library": ["pandas.DatetimeIndex", [None, ["objects", []], "__import__('os')"]]},
    *(column(*parts) for parts in ((), ("objects", 5), ("objects", [1, 2]), ("numpy", [1]), ("unknown", [1]))),
    *(column("text", text, "str") for text in ("[1]", "[", 5)),
    column("text", "[]", "string[pyarrow]"),
    column("objects", [{"handle": {"type": "ObjectHandle", "object_id": 7, "name": "f"}}]),
    *(expression(*parts) for parts in ((), ("os:system", "id"), ("sympy:sympify", "x"), ("Symbol", 5, {}))),
    expression("Symbol", "x", {"dict": [["positive", "yes"]]}),
    expression("sympy.core.add:Add", "__import__('os')"),
    expression("sympy.core.add:sympify", "x"),
    expression("Float", [0, 1, "x", 1], 53),
    expression("Rational", 1, -2),
    {"library": ["networkx.Graph", [{"dict": []}, [], [[1, 2, {"dict": []}]], []]]},
    {"library": ["networkx.Graph", [{"dict": []}, [[[], {"dict": []}]], [], []]]},
    {"library": ["scipy.csr_matrix", [[2, 2], 5, 5, 5]]},
    {"library": ["numpy.ndarray", [[10**9, 10**9], None, []]]},
    {"library": ["numpy.ndarray", [[1], None, [{"handle": {"type": "ObjectHandle", "object_id": 7, "name": "f"}}]]]},
    {"library": ["numpy.ndarray", [[1], [["a", "O"]], [[1]]]]},
    {"library": ["numpy.matrix", "1 2"]},
    {"library": ["numpy.memmap", "/tmp/x"]},
]


@pytest.mark.parametrize("tree", FORGED, ids=range(len(FORGED)))
def test_forged_values_are_refused(tree):
    """With the error of a broken rule; no string in them is evaluated, opened or looked up."""
    with pytest.raises(ProtocolError):
        unpack(tree, [], refuse)


def test_a_power_is_not_computed():
    """Evaluating this one would fill the memory."""
    power = expression("sympy.core.power:Pow", ["Rational", 10, 1], ["Rational", 10**12, 1])
    assert str(unpack(power, [], refuse)) == "10**1000000000000"
