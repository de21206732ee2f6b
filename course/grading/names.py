"""Which names a test cell asks of the student."""

import symtable


def names_used(source: str) -> list[str]:
    """The names that a cell takes from outside: what it or a function in it reads and the cell itself does not bind."""
    top = symtable.symtable(source, "<test>", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    read: set[str] = set()

    def walk(table: symtable.SymbolTable) -> None:
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                read.add(symbol.get_name())
        for child in table.get_children():
            walk(child)

    walk(top)
    return sorted(read - bound)
