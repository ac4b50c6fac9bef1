"""Functions as C had them before C89: ``f(a, b) int a; float *b; { ... }``, and prototypes that leave the parameters
out."""

from pycparser import c_ast

from ..diag import Code, CompileError
from .parse import Syntax

__all__ = ["complete_prototypes"]


def complete_prototypes(syntax: Syntax) -> list[CompileError]:
    """Give every definition in the old style a list of parameters with types, and every ``int f();`` that of the
    function's definition. The errors are of declarations that name no parameter."""
    errors, lists = [], {}
    for node in syntax.tree.ext:
        if isinstance(node, c_ast.FuncDef) and isinstance(node.decl.type, c_ast.FuncDecl):
            try:
                _declare_parameters(syntax, node)
            except CompileError as error:
                errors.append(error)
            lists[str(node.decl.name)] = node.decl.type.args
    for node in syntax.tree.ext:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl) and node.type.args is None:
            node.type.args = lists.get(str(node.name))
    return errors


def _declare_parameters(syntax: Syntax, node: c_ast.FuncDef):
    declarations, node.param_decls = node.param_decls or [], None
    names = node.decl.type.args
    known = {str(p.name): k for k, p in enumerate(names.params if names else ()) if isinstance(p, c_ast.ID)}
    for declaration in declarations:
        name = str(getattr(declaration, "name", None))
        if name not in known:
            raise CompileError.at(
                syntax.span(declaration),
                f"'{node.decl.name}' has no parameter '{name}'",
                "write the declarations of its variables after the '{'",
                code=Code.BAD_DECLARATION,
            )
        names.params[known.pop(name)] = declaration
