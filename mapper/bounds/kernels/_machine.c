/* Runs a traced expression (symbols.py) for many rows at once: a machine with registers of BLOCK numbers each.
 *
 * run(code, registers, constants, lookups, tables, rows, out)
 *   code       int32 (instruction, 4): operation, target, first, second; a SELECT has its third in the next instruction
 *   registers  how many there are; the first hold the constants
 *   constants  float64 (constant,)
 *   lookups    tuple of float64 (entry,): what TAKE looks up
 *   tables     tuple of pairs: float64 (row, column) in C order, and its number of columns
 *   rows       int64 (set, table): the row of each table for each set
 *   out        float64 (set, output), written
 * Every operation is that of NumPy on float64, NaN included, so that results are equal to the last bit.
 */
#define Py_LIMITED_API 0x030C0000
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 128

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONES __attribute__((target_clones("default", "avx2")))
#else
#define CLONES
#endif

/* in the order of OPERATIONS in program.py */
enum operation {
    LOAD, OUTPUT, TAKE, ADD, SUBTRACT, MULTIPLY, DIVIDE, MAXIMUM, MINIMUM, CEIL, RINT,
    GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, AND, OR, ISINF, SELECT, OPERATIONS
};

typedef struct { int32_t operation, target, first, second; } instruction;

#define EACH(expression) for (int i = 0; i < BLOCK; i++) { t[i] = (expression); } break

CLONES static void compute(int operation, double *restrict t, const double *a, const double *b, const double *c)
{
    switch (operation) {
    case ADD: EACH(a[i] + b[i]);
    case SUBTRACT: EACH(a[i] - b[i]);
    case MULTIPLY: EACH(a[i] * b[i]);
    case DIVIDE: EACH(a[i] / b[i]);
    case MAXIMUM: EACH(a[i] >= b[i] || a[i] != a[i] ? a[i] : b[i]);
    case MINIMUM: EACH(a[i] <= b[i] || a[i] != a[i] ? a[i] : b[i]);
    case CEIL: EACH(ceil(a[i]));
    case RINT: EACH(rint(a[i]));
    case GREATER: EACH(a[i] > b[i] ? 1.0 : 0.0);
    case GREATER_EQUAL: EACH(a[i] >= b[i] ? 1.0 : 0.0);
    case LESS: EACH(a[i] < b[i] ? 1.0 : 0.0);
    case LESS_EQUAL: EACH(a[i] <= b[i] ? 1.0 : 0.0);
    case EQUAL: EACH(a[i] == b[i] ? 1.0 : 0.0);
    case AND: EACH(a[i] != 0.0 && b[i] != 0.0 ? 1.0 : 0.0);
    case OR: EACH(a[i] != 0.0 || b[i] != 0.0 ? 1.0 : 0.0);
    case ISINF: EACH(fabs(a[i]) == INFINITY ? 1.0 : 0.0);
    case SELECT: EACH(a[i] != 0.0 ? b[i] : c[i]);
    }
}

typedef struct {
    const instruction *code; Py_ssize_t length;
    double *registers;
    const double **lookups; Py_ssize_t *entries;
    const double **tables; Py_ssize_t *columns, *lengths;
    Py_ssize_t number, outputs;  /* of tables; of outputs */
} program;

/* Runs the program for `n` sets, at most BLOCK; returns whether every row and every lookup was there. */
static int run_block(const program *p, const int64_t *rows, double *out, int n)
{
    for (Py_ssize_t k = 0; k < p->length; k++) {
        const instruction own = p->code[k];
        double *t = p->registers + (Py_ssize_t)own.target * BLOCK;
        switch (own.operation) {
        case LOAD: {
            const double *table = p->tables[own.first] + own.second;
            const Py_ssize_t columns = p->columns[own.first];
            const int64_t *row = rows + own.first;
            for (int i = 0; i < n; i++) t[i] = table[row[i * p->number] * columns];
            for (int i = n; i < BLOCK; i++) t[i] = t[0];
            break;
        }
        case OUTPUT: {
            const double *a = p->registers + (Py_ssize_t)own.first * BLOCK;
            for (int i = 0; i < n; i++) out[i * p->outputs + own.target] = a[i];
            break;
        }
        case TAKE: {
            const double *a = p->registers + (Py_ssize_t)own.first * BLOCK;
            for (int i = 0; i < BLOCK; i++) {
                if (!(a[i] >= 0 && a[i] < (double)p->entries[own.second])) return 0;
                t[i] = p->lookups[own.second][(Py_ssize_t)a[i]];
            }
            break;
        }
        default: {
            const double *c = t;
            if (own.operation == SELECT) c = p->registers + (Py_ssize_t)p->code[++k].first * BLOCK;
            compute(own.operation, t, p->registers + (Py_ssize_t)own.first * BLOCK,
                    p->registers + (Py_ssize_t)own.second * BLOCK, c);
        }
        }
    }
    return 1;
}

/* Whether a program stays inside its registers, tables, lookups and outputs. */
static int sound(const program *p, int registers, int constants, Py_ssize_t lookups)
{
    for (Py_ssize_t k = 0; k < p->length; k++) {
        const instruction own = p->code[k];
        if (own.operation < 0 || own.operation >= OPERATIONS || own.target < 0 || own.first < 0 || own.second < 0)
            return 0;
        if (own.operation == OUTPUT) {
            if (own.target >= p->outputs || own.first >= registers) return 0;
            continue;
        }
        if (own.target < constants || own.target >= registers) return 0;
        if (own.operation == LOAD) {
            if (own.first >= p->number || own.second >= p->columns[own.first]) return 0;
        } else if (own.operation == TAKE) {
            if (own.first >= registers || own.second >= lookups) return 0;
        } else {
            if (own.first >= registers || own.second >= registers) return 0;
            if (own.operation == SELECT) {
                if (++k >= p->length) return 0;
                if (p->code[k].first < 0 || p->code[k].first >= registers) return 0;
            }
        }
    }
    return 1;
}

#define MOST 64  /* tables, and lookups */

static PyObject *run(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer code = {0}, constants = {0}, rows = {0}, out = {0}, held[2 * MOST];
    PyObject *lookups, *tables, *result = NULL;
    const double *looked[MOST], *given[MOST];
    Py_ssize_t entries[MOST], columns[MOST], lengths[MOST], holds = 0;
    int registers;
    program p = {0};
    if (!PyArg_ParseTuple(args, "y*iy*O!O!y*w*", &code, &registers, &constants, &PyTuple_Type, &lookups,
                          &PyTuple_Type, &tables, &rows, &out))
        return NULL;
    const Py_ssize_t own_lookups = PyTuple_Size(lookups);
    const int known = (int)(constants.len / (Py_ssize_t)sizeof(double));
    p = (program){code.buf, code.len / (Py_ssize_t)sizeof(instruction), NULL, looked, entries, given, columns, lengths,
                  PyTuple_Size(tables), 0};
    if (own_lookups > MOST || p.number > MOST || p.number < 1 || registers < known || registers < 1) {
        PyErr_SetString(PyExc_ValueError, "too many tables or too few registers");
        goto end;
    }
    for (Py_ssize_t i = 0; i < own_lookups; i++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(lookups, i), &held[holds], PyBUF_C_CONTIGUOUS)) goto end;
        looked[i] = held[holds].buf;
        entries[i] = held[holds++].len / (Py_ssize_t)sizeof(double);
    }
    for (Py_ssize_t g = 0; g < p.number; g++) {
        PyObject *table;
        if (!PyArg_ParseTuple(PyTuple_GetItem(tables, g), "On", &table, &columns[g])) goto end;
        if (PyObject_GetBuffer(table, &held[holds], PyBUF_C_CONTIGUOUS)) goto end;
        given[g] = held[holds].buf;
        if (columns[g] < 0) { PyErr_SetString(PyExc_ValueError, "a table has columns"); holds++; goto end; }
        lengths[g] = columns[g] ? held[holds].len / (Py_ssize_t)sizeof(double) / columns[g] : PY_SSIZE_T_MAX;
        holds++;
    }
    const Py_ssize_t sets = rows.len / (Py_ssize_t)sizeof(int64_t) / p.number;
    p.outputs = sets ? out.len / (Py_ssize_t)sizeof(double) / sets : 1;
    if (!sound(&p, registers, known, own_lookups)) {
        PyErr_SetString(PyExc_ValueError, "a program outside its registers");
        goto end;
    }
    p.registers = PyMem_Malloc((size_t)registers * BLOCK * sizeof(double));
    if (!p.registers) { PyErr_NoMemory(); goto end; }
    memset(p.registers, 0, (size_t)registers * BLOCK * sizeof(double));
    int there = 1;
    Py_BEGIN_ALLOW_THREADS
    const int64_t *row = rows.buf;
    for (Py_ssize_t i = 0; i < sets * p.number && there; i++) there = row[i] >= 0 && row[i] < lengths[i % p.number];
    for (int c = 0; c < known; c++)
        for (int i = 0; i < BLOCK; i++) p.registers[(Py_ssize_t)c * BLOCK + i] = ((const double *)constants.buf)[c];
    for (Py_ssize_t start = 0; start < sets && there; start += BLOCK) {
        const Py_ssize_t n = sets - start < BLOCK ? sets - start : BLOCK;
        there = run_block(&p, row + start * p.number, (double *)out.buf + start * p.outputs, (int)n);
    }
    Py_END_ALLOW_THREADS
    PyMem_Free(p.registers);
    if (!there) { PyErr_SetString(PyExc_IndexError, "a row or an entry that is not there"); goto end; }
    result = Py_NewRef(Py_None);
end:
    while (holds) PyBuffer_Release(&held[--holds]);
    PyBuffer_Release(&code); PyBuffer_Release(&constants); PyBuffer_Release(&rows); PyBuffer_Release(&out);
    return result;
}

static PyMethodDef methods[] = {{"run", run, METH_VARARGS, "Run a program for many sets."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_machine", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__machine(void) { return PyModule_Create(&module); }
