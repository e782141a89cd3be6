"""Reads the index that the Swift compiler writes, through the toolchain's libIndexStore.

The functions are declared in `indexstore/indexstore.h` of the Swift fork of the LLVM project. The variants that end in
`_apply_f` take a function and a context instead of a block.
"""
import ctypes
import os
import shutil
import sys
from collections import namedtuple


class StringRef(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


# The roles of an occurrence, as bits.
DECLARATION, DEFINITION, REFERENCE = 1 << 0, 1 << 1, 1 << 2
IMPLICIT = 1 << 8

Unit = namedtuple("Unit", "name module file records units")
Occurrence = namedtuple("Occurrence", "usr name kind roles line column")

_POINTER = ctypes.c_void_p
_APPLY_STRING = ctypes.CFUNCTYPE(ctypes.c_bool, _POINTER, StringRef)
_APPLY = ctypes.CFUNCTYPE(ctypes.c_bool, _POINTER, _POINTER)


class IndexStore:
    """The index store of a build."""

    def __init__(self, path):
        compiler = shutil.which("swiftc") or sys.exit("no swiftc on the PATH")
        name = "libIndexStore.dylib" if sys.platform == "darwin" else "libIndexStore.so"
        library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(compiler))), "lib", name)
        self.library = ctypes.CDLL(library)
        for function in (
            "unit_reader_get_module_name", "unit_reader_get_main_file", "unit_dependency_get_name", "unit_dependency_get_filepath",
            "unit_dependency_get_modulename", "symbol_get_usr", "symbol_get_name",
        ):
            getattr(self.library, "indexstore_" + function).restype = StringRef
            getattr(self.library, "indexstore_" + function).argtypes = [_POINTER]
        for function in ("store_create", "unit_reader_create", "record_reader_create", "occurrence_get_symbol"):
            getattr(self.library, "indexstore_" + function).restype = _POINTER
        self.library.indexstore_occurrence_get_symbol.argtypes = [_POINTER]
        self.library.indexstore_occurrence_get_roles.restype = ctypes.c_uint64
        self.library.indexstore_occurrence_get_roles.argtypes = [_POINTER]
        self.library.indexstore_symbol_get_kind.argtypes = [_POINTER]
        self.library.indexstore_unit_dependency_get_kind.argtypes = [_POINTER]
        self.library.indexstore_unit_reader_is_system_unit.argtypes = [_POINTER]
        self.library.indexstore_unit_reader_is_system_unit.restype = ctypes.c_bool
        self.library.indexstore_occurrence_get_line_col.argtypes = [
            _POINTER, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_uint)]
        error = _POINTER()
        self.store = self.library.indexstore_store_create(os.fsencode(path), ctypes.byref(error))
        if not self.store:
            sys.exit(f"No index in {path}. Run `swift build` first.")

    def _each(self, function, handle, of):
        found, wrong = [], []

        def apply(_, item):
            try:
                found.append(of(item))
            except Exception as error:
                wrong.append(error)
            return not wrong

        call = getattr(self.library, "indexstore_" + function)
        call(_POINTER(handle), None, _APPLY(apply))
        if wrong:
            raise wrong[0]
        return found

    def units(self):
        """Returns the units of source files: one for each file and module that compiled it."""
        names = []

        def apply(_, name):
            names.append(str(name))
            return True

        self.library.indexstore_store_units_apply_f(_POINTER(self.store), ctypes.c_uint(1), None, _APPLY_STRING(apply))
        units = []
        for name in names:
            error = _POINTER()
            reader = self.library.indexstore_unit_reader_create(_POINTER(self.store), name.encode(), ctypes.byref(error))
            if not reader:
                continue
            if not self.library.indexstore_unit_reader_is_system_unit(reader):
                def dependency(item):
                    return (self.library.indexstore_unit_dependency_get_kind(item),
                            str(self.library.indexstore_unit_dependency_get_name(item)),
                            str(self.library.indexstore_unit_dependency_get_filepath(item)),
                            str(self.library.indexstore_unit_dependency_get_modulename(item)))
                dependencies = self._each("unit_reader_dependencies_apply_f", reader, dependency)
                units.append(Unit(
                    name, str(self.library.indexstore_unit_reader_get_module_name(reader)),
                    str(self.library.indexstore_unit_reader_get_main_file(reader)),
                    [d for d in dependencies if d[0] == 2], [d for d in dependencies if d[0] == 1]))
            self.library.indexstore_unit_reader_dispose(_POINTER(reader))
        return units

    def occurrences(self, record):
        """Returns the occurrences of symbols in a record."""
        error = _POINTER()
        reader = self.library.indexstore_record_reader_create(_POINTER(self.store), record.encode(), ctypes.byref(error))
        if not reader:
            return []

        def occurrence(item):
            symbol = self.library.indexstore_occurrence_get_symbol(item)
            line, column = ctypes.c_uint(), ctypes.c_uint()
            self.library.indexstore_occurrence_get_line_col(item, ctypes.byref(line), ctypes.byref(column))
            return Occurrence(
                str(self.library.indexstore_symbol_get_usr(symbol)), str(self.library.indexstore_symbol_get_name(symbol)),
                self.library.indexstore_symbol_get_kind(symbol), self.library.indexstore_occurrence_get_roles(item),
                line.value, column.value)

        found = self._each("record_reader_occurrences_apply_f", reader, occurrence)
        self.library.indexstore_record_reader_dispose(_POINTER(reader))
        return found
