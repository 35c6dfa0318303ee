"""The page of substitutions: all of them, well-formed and escaped; pictures with every node and edge."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from ruby_map.mapper.rewrites.equation import Equation
from ruby_map.mapper.rewrites.page import PAGE_HEAD, substitutions_html
from ruby_map.mapper.rewrites.page.layout import BEND, GAP, layout_of
from ruby_map.mapper.rewrites.page.nodes import Kind, Node, Port, nodes_of
from ruby_map.mapper.rewrites.page.page import Entry, page_html
from ruby_map.mapper.rewrites.page.picture import side_svg
from ruby_map.mapper.rewrites.production import Proven
from ruby_map.mapper.rewrites.shipped import shipped
from ruby_map.mapper.rewrites.terms import given, term
from ruby_map.mapper.rewrites.text import term_of

COUNTS, EQUATIONS = shipped()
EMPTY = ("meta", "br", "input")
SIDES = [(f"{name}, {number}", side) for name, own in EQUATIONS[::7] for number, side in enumerate(own.equation.sides)]


class Page(HTMLParser):
    """Which tags are open, and the texts of headings."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.codes, self.wrong = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Nothing is open after it."""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if self.open and self.open[-1] == "code":
            self.codes.append(data)


def test_every_equation_is_there_with_its_texts_and_its_proof():
    page = substitutions_html()
    read = Page(page)
    assert (read.wrong, read.open) == ([], [])
    assert read.headings == [name for name, _ in EQUATIONS]
    texts = [f"{one} = {other}" for _, own in EQUATIONS for one, other in zip(*own.equation.texts(), strict=True)]
    assert [text for text in read.codes if " = " in text] == texts
    assert page.count("<svg ") == 2 * len(EQUATIONS)
    assert all(f">by {'; '.join(own.by)}</p>" in page for _, own in EQUATIONS if own.by)
    assert page.startswith(PAGE_HEAD)
    assert not re.search(r"(?:src|href)=|url\(|@import", page)  # it asks for no other file


def test_the_numbers_of_the_stages_add_up():
    """What is left of the equations of both parts is shipped."""
    rows = dict(re.findall(r'<td class="text">(.*?)</td><td>([\d,]+)</td>', substitutions_html()))
    numbers = {stage: int(number.replace(",", "")) for stage, number in rows.items()}
    assert numbers["shipped"] == len(EQUATIONS)
    of_these = sum(number for stage, number in numbers.items() if stage.startswith("of these: "))
    assert numbers["of both parts, each once"] == of_these + numbers["shipped"]
    assert "<td>41,691</td><td>28,744</td>" in substitutions_html()


def test_texts_are_escaped():
    """Names of equations and of inputs that are no names of ours."""
    side = (term("relu", (), (given("<b>&"),)),)
    page = page_html(COUNTS, [Entry("<script>x</script>", Proven(Equation(side, side, {"<b>&": (2,)}), ("<i>",)))])
    assert (Page(page).wrong, Page(page).headings) == ([], ["<script>x</script>"])
    for escaped in ("&lt;script&gt;", "relu(&lt;b&gt;&amp;)", "by &lt;i&gt;", ">&lt;b&gt;&amp;</text>"):
        assert escaped in page
    assert "<b>&" not in page
    assert "<i>" not in page


@pytest.mark.parametrize("side", [side for _, side in SIDES], ids=[name for name, _ in SIDES])
def test_a_picture_has_a_box_for_each_node_and_none_on_another(side):
    nodes = nodes_of(side)
    drawn = ElementTree.fromstring(side_svg(side))
    boxes = drawn.findall("rect")
    assert len(boxes) == len(nodes)
    layout = layout_of(nodes)
    assert sum(box.node.kind != Kind.BEND for box in layout.boxes) == len(nodes)
    for number, one in enumerate(layout.boxes):
        assert one.x - one.width / 2 >= 0
        assert one.x + one.width / 2 <= layout.width
        assert one.y - one.height / 2 >= 0
        assert one.y + one.height / 2 <= layout.height
        for port in one.node.reads:
            assert layout.boxes[port.node].y < one.y
        for other in layout.boxes[:number]:
            apart = abs(one.x - other.x) - (one.width + other.width) / 2
            below = abs(one.y - other.y) - (one.height + other.height) / 2
            assert apart >= GAP - 1e-6 or below >= 0


def test_both_parts_of_a_split_are_one_node():
    """The first is made to the left, and outputs stand in their order."""
    side = tuple(map(term_of, ("split0(relu(x), axis=0)", "split1(relu(x), axis=0)")))
    assert nodes_of(side) == [
        Node(Kind.INPUT, ("x",)),
        Node(Kind.OPERATOR, ("relu",), (Port(0),)),
        Node(Kind.OPERATOR, ("split", "axis 0"), (Port(1),), 2),
        Node(Kind.OUTPUT, ("out 1",), (Port(2, 0),)),
        Node(Kind.OUTPUT, ("out 2",), (Port(2, 1),)),
    ]


def test_parameters_are_shown_by_their_values_or_their_names():
    conv = nodes_of([term_of("conv(x, w, stride=(1, 2), pad=pad, act='none')")])[2]
    assert conv.lines == ("conv", "stride 1x2, pad, act none")


def test_an_edge_that_passes_a_row_bends_there():
    layout = layout_of(nodes_of([term_of("ewadd(x, relu(relu(x)))")]))
    bends = [box for box in layout.boxes if box.node.kind == Kind.BEND]
    assert [box.width for box in bends] == [BEND, BEND]
    (first, second) = bends
    assert second.node.reads == (Port(layout.boxes.index(first)),)
