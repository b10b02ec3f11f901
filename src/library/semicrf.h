/* semicrf as a library: segmentation of sequences by semi-Markov conditional random fields, which hidden
 * semi-Markov models are a special case of.
 *
 * A model (semicrf_model) is what a parameter file holds. An engine (semicrf_engine) computes with one model
 * on one device. semicrf_compute() answers one request about any number of sequences, and returns a result
 * (semicrf_result). docs/api/library.md has an example.
 *
 * Conventions
 * - Functions that can fail return a semicrf_status and take a semicrf_error, which may be null, for the
 *   text. Nothing is printed, no exception leaves the library, and it has no state beside its handles.
 * - A null handle, array or text is an error, but where null has a meaning of its own. Handles are freed by
 *   the caller; freeing null does nothing. Models and results never change, so that any number of threads may
 *   read them. An engine may be called from several threads at once. A model may be freed before its engines.
 * - T is the number of positions of a sequence, C the number of labels (0..C-1), K the longest duration with
 *   a score of its own. Scores are natural logarithms; -infinity forbids. Positions are counted from 0, and
 *   ranges are half-open. Letters and formulas: docs/algorithm.md.
 * - Strides are in bytes and may be negative. Scores in C order with aligned values of 4 or 8 bytes are used
 *   where they lie, others are copied. The engine's own arithmetic (float or double) is a property of the
 *   engine, not of the arrays. */
#ifndef SEMICRF_H
#define SEMICRF_H

#include <stddef.h>
#include <stdint.h>

#if defined(SEMICRF_BUILDING)
#define SEMICRF_API __attribute__((visibility("default")))
#else
#define SEMICRF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are the exit codes of the program where it has such a code. */
typedef enum semicrf_status {
  SEMICRF_OK = 0,
  SEMICRF_BAD_ARGUMENT = 2, /* a shape, a range, a null pointer, an option */
  SEMICRF_BAD_INPUT = 3,    /* a parameter file; a score that is no score; constraints that cannot be met */
  SEMICRF_CANNOT_READ = 4,  /* a file, or a temporary one */
  SEMICRF_CANNOT_WRITE = 5, /* a temporary file, where a path does not fit into memory */
  SEMICRF_OUT_OF_MEMORY = 6,
  SEMICRF_NO_DEVICE = 7,
  SEMICRF_INTERNAL = 70 /* a mistake of the library */
} semicrf_status;

/* One line without a line end; empty after success. */
typedef struct semicrf_error {
  char text[2048];
} semicrf_error;

typedef struct semicrf_model semicrf_model;
typedef struct semicrf_engine semicrf_engine;
typedef struct semicrf_result semicrf_result;

/* "0.2.0" */
SEMICRF_API const char* semicrf_version(void);

/* ---- models */

/* A model as tables. Null: labels are named by their numbers; no tail; 0. */
typedef struct semicrf_tables {
  int32_t num_labels;        /* C, 1..2000 */
  int32_t max_duration;      /* K >= 1 */
  const char* const* labels; /* (C) names, UTF-8, all different; or null */
  const double* transition;  /* (C, C), [from][to] */
  const double* duration;    /* (K, C), row k-1 has duration k */
  const double* tail;        /* (C) or null: q in (0, 1), the factor of each position beyond K; 0: no tail */
  const double* start;       /* (C) or null: added for the label of position 0 */
  const double* end;         /* (C) or null: added for the label of position T-1 */
  const char* initial;       /* "uniform" or "none", as in parameter files; null: "uniform" */
  const char* centering;     /* "mean", "none", "position-max" or "mean-preserving", as there; null: "none" */
} semicrf_tables;

SEMICRF_API semicrf_status semicrf_model_read(const char* path, semicrf_model** model, semicrf_error* error);
/* `json`: the text of a parameter file, of `length` bytes. */
SEMICRF_API semicrf_status semicrf_model_parse(const char* json, size_t length, semicrf_model** model,
                                               semicrf_error* error);
SEMICRF_API semicrf_status semicrf_model_make(const semicrf_tables* tables, semicrf_model** model,
                                              semicrf_error* error);
/* The text of the parameter file, which reads back as the same numbers. *length: its bytes. At most
 * `capacity` bytes are copied to `text`, which may be null where `capacity` is 0; no zero is added. */
SEMICRF_API semicrf_status semicrf_model_json(const semicrf_model* model, char* text, size_t capacity,
                                              size_t* length, semicrf_error* error);
/* The resolved tables; all pointers are valid as long as the model. */
SEMICRF_API semicrf_status semicrf_model_tables(const semicrf_model* model, semicrf_tables* tables,
                                                semicrf_error* error);
/* Columns of the scores of a sequence: C label scores or, where the model has linear heads, raw values of its
 * tracks, which *tracks is the number of; else that is 0. */
SEMICRF_API semicrf_status semicrf_model_columns(const semicrf_model* model, int64_t* columns,
                                                 int64_t* tracks, semicrf_error* error);
SEMICRF_API void semicrf_model_free(semicrf_model* model);

/* ---- engines */

typedef struct semicrf_options {
  const char* backend;      /* "cpu", "reference", "cuda", or "auto": a GPU where there is one. Null: "cpu" */
  int32_t double_precision; /* 0: arithmetic in float with checks, else double; "reference": always double */
  int32_t threads;          /* threads of the host; 0: one */
  int32_t device;           /* number of the GPU */
  int64_t max_memory;       /* bytes for windows and messages; 0: as the program chooses */
} semicrf_options;

/* `options`: null, or all zero: one thread of the cpu, float. */
SEMICRF_API semicrf_status semicrf_engine_make(const semicrf_model* model, const semicrf_options* options,
                                               semicrf_engine** engine, semicrf_error* error);
/* For logs: backend, instruction set, precision. Valid as long as the engine. */
SEMICRF_API const char* semicrf_engine_description(const semicrf_engine* engine);
SEMICRF_API void semicrf_engine_free(semicrf_engine* engine);

/* ---- sequences and requests */

typedef enum semicrf_type { SEMICRF_FLOAT16 = 2, SEMICRF_FLOAT32 = 4, SEMICRF_FLOAT64 = 8 } semicrf_type;

/* A (rows, columns) array that is read. Null data: there is none. */
typedef struct semicrf_array {
  const void* data;
  semicrf_type type;
  int64_t rows, columns;
  int64_t row_stride, column_stride; /* bytes from one to the next */
} semicrf_array;

/* A (rows, columns) array of floats or doubles that is written. Null data: the values are not wanted. */
typedef struct semicrf_output {
  void* data;
  semicrf_type type;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
} semicrf_output;

typedef struct semicrf_segment {
  int64_t begin, end; /* positions */
  int64_t label;
} semicrf_segment;

typedef enum semicrf_constraint_kind {
  SEMICRF_ONLY = 1,       /* every position has one of the labels */
  SEMICRF_NOT = 2,        /* no position has one of the labels */
  SEMICRF_BOUNDARY = 3,   /* a segment starts at `begin`; end = begin + 1 */
  SEMICRF_NO_BOUNDARY = 4 /* no segment starts at any of the positions; begin > 0 */
} semicrf_constraint_kind;

/* What all segmentations must be like at positions [begin, end). */
typedef struct semicrf_constraint {
  semicrf_constraint_kind kind;
  int64_t begin, end;
  const int32_t* labels; /* for the first two kinds */
  size_t num_labels;
} semicrf_constraint;

typedef struct semicrf_sequence {
  const char* name; /* in messages, and what samples depend on beside the seed; null: its number, from 0 */
  semicrf_array scores; /* (T, columns of the model), T >= 1: finite or -infinity; of tracks finite, or NaN
                           where the track's "missing" allows it and is not "skip" */
  semicrf_array start_scores; /* (T, C): added where a segment of the label starts */
  semicrf_array end_scores;   /* (T, C): added where a segment of the label has its last position */
  const semicrf_constraint* constraints;
  size_t num_constraints;
  const semicrf_segment* segments; /* a segmentation whose score is wanted: they tile [0, T); or null */
  size_t num_segments;
  /* Posteriors, left as they are where no segmentation is possible. */
  semicrf_output boundary; /* (T, 1): P(a segment starts at t) */
  semicrf_output labels;   /* (T, C): P(label at t is c); gradient of log Z by the centred scores */
  semicrf_output starts;   /* (T, C): P(a segment of label c starts at t); gradient by the start scores */
  semicrf_output ends;     /* (T, C): P(a segment of label c has its last position at t); by the end scores */
} semicrf_sequence;

typedef struct semicrf_request {
  int32_t log_partition; /* not 0: log Z */
  int32_t best_path;     /* not 0: the best segmentation (Viterbi) */
  int32_t entropy;       /* not 0: entropies, in nats */
  int32_t counts;        /* not 0: expected counts */
  int32_t best;          /* so many best segmentations, at most 1000 */
  int32_t samples;       /* so many independent samples from P(y|x) */
  uint64_t seed;         /* seed of the samples */
} semicrf_request;

/* Computes all of `request`, and the posteriors and scores that sequences ask for. The same numbers whatever
 * the threads, the memory, and the other sequences of the call. Arrays are not kept. An error names the
 * sequence; then outputs may be written in part. */
SEMICRF_API semicrf_status semicrf_compute(semicrf_engine* engine, const semicrf_sequence* sequences,
                                           size_t count, const semicrf_request* request,
                                           semicrf_result** result, semicrf_error* error);

/* The same of arrays in memory of the engine's GPU: scores, boundary scores and posteriors, all in C order,
 * posteriors in the engine's precision. `stream`: the cudaStream_t that has made the scores, and whose work
 * after this call finds the posteriors; null: the default stream. For log_partition, counts and posteriors,
 * without tracks, constraints and segments, and centring other than "mean". The GPU checks the values, so an
 * error does not say which one is no score. */
SEMICRF_API semicrf_status semicrf_compute_on_device(semicrf_engine* engine,
                                                     const semicrf_sequence* sequences, size_t count,
                                                     const semicrf_request* request, void* stream,
                                                     semicrf_result** result, semicrf_error* error);

/* ---- results, by the index of the sequence */

typedef enum semicrf_number {
  SEMICRF_LOG_PARTITION = 1, /* -infinity: no segmentation is possible */
  SEMICRF_GIVEN_SCORE =
      2,               /* score of the segmentation that was given; exp(this - log Z) is its probability */
  SEMICRF_ENTROPY = 3, /* entropy of the segmentation */
  SEMICRF_LABEL_ENTROPY = 4,    /* sum over positions of the entropy of P(label|t) */
  SEMICRF_BOUNDARY_ENTROPY = 5, /* that of the boundary posterior, as a distribution over positions */
  SEMICRF_EXPECTED_SEGMENTS = 6,
  SEMICRF_LOG_CONSTRAINTS = 7 /* ln of the probability of the constraints; with entropy or log_partition */
} semicrf_number;

/* NaN: was not asked for, or no segmentation is possible. */
SEMICRF_API semicrf_status semicrf_result_number(const semicrf_result* result, size_t sequence,
                                                 semicrf_number which, double* value, semicrf_error* error);

typedef enum semicrf_path_kind {
  SEMICRF_BEST_PATH = 1, /* one, or none where no segmentation is possible */
  SEMICRF_RANKED = 2,    /* the best ones, the best first; fewer where there are not so many */
  SEMICRF_SAMPLED = 3
} semicrf_path_kind;

typedef struct semicrf_path {
  double score;           /* for best and ranked paths: the largest over labels before the first segment */
  double log_probability; /* ln P(y|x), of ranked and sampled paths; else NaN */
  size_t num_segments;
} semicrf_path;

SEMICRF_API semicrf_status semicrf_result_paths(const semicrf_result* result, size_t sequence,
                                                semicrf_path_kind kind, size_t* count, semicrf_error* error);
SEMICRF_API semicrf_status semicrf_result_path(const semicrf_result* result, size_t sequence,
                                               semicrf_path_kind kind, size_t index, semicrf_path* path,
                                               semicrf_error* error);
/* From left to right; `capacity` is at least the number of segments. */
SEMICRF_API semicrf_status semicrf_result_segments(const semicrf_result* result, size_t sequence,
                                                   semicrf_path_kind kind, size_t index,
                                                   semicrf_segment* segments, size_t capacity,
                                                   semicrf_error* error);
/* Expected counts, the gradients of log Z by the tables: transition (C, C), duration (K, C), tail (C, of log
 * q). Null: not wanted. */
SEMICRF_API semicrf_status semicrf_result_counts(const semicrf_result* result, size_t sequence,
                                                 double* transition, double* duration, double* tail,
                                                 semicrf_error* error);
SEMICRF_API void semicrf_result_free(semicrf_result* result);

/* ---- second derivatives */

/* A number for every score that log Z of a sequence depends on, in C order: a direction, or derivatives along
 * one. Null: zeros, or not wanted. */
typedef struct semicrf_variation {
  double* scores;       /* (T, C): of the centred scores */
  double* start_scores; /* (T, C): rows 0 and T-1 of these two are those of `start` and `end`, too */
  double* end_scores;   /* (T, C) */
  double* transition;   /* (C, C) */
  double* duration;     /* (K, C) */
  double* tail;         /* (C): of ln q */
} semicrf_variation;

/* The product of the Hessian of log Z with a direction: how the posteriors and expected counts of every
 * sequence change along it. In double, on the cpu, with up to `threads` threads: O(T K C + T C C) time and
 * 150 C bytes of memory per position. Constraints, segments and outputs of the sequences are not looked at.
 */
SEMICRF_API semicrf_status semicrf_hessian_product(const semicrf_model* model,
                                                   const semicrf_sequence* sequences, size_t count,
                                                   const semicrf_variation* directions,
                                                   const semicrf_variation* products, int32_t threads,
                                                   semicrf_error* error);

/* ---- models from tracks alone */

/* How the command `learn` is asked to fit a hidden semi-Markov model (docs/users/learning.md). */
typedef struct semicrf_learning {
  int32_t num_labels;       /* 1..200; with a model to start from, its labels count */
  const char* emission;     /* "gaussian", "poisson", "negative-binomial", "bernoulli",
                               "categorical" (whole numbers from 0 on); null: by the values */
  const char* durations;    /* "table", "geometric", "negative-binomial"; null: "table" */
  int32_t max_duration;     /* K; 0: 100 and a tail */
  int32_t tail;             /* not 0: longer segments, falling geometrically */
  int32_t self_transitions; /* not 0: a label may follow itself; as it must where there is one label */
  int32_t random_start;     /* not 0: bins drawn at random, else clusters of bins */
  int32_t restarts;         /* fits with other seeds, of which the likeliest is taken; 0: one */
  int32_t max_iterations;   /* 0: the likelihood of the model that is given */
  double tolerance;         /* relative increase of the likelihood at which to stop */
  uint64_t seed;
} semicrf_learning;

/* Fits to arrays (T, F) of raw values, all finite, read in single precision: Baum-Welch with explicit
 * durations. `start`: null, or a model that was learned, to go on from. The model's JSON has in "training"
 * the log likelihoods of all iterations and whether the fit converged. */
SEMICRF_API semicrf_status semicrf_learn(const semicrf_array* sequences, size_t count,
                                         const semicrf_model* start, const semicrf_learning* how,
                                         const semicrf_options* options, semicrf_model** model,
                                         semicrf_error* error);

#ifdef __cplusplus
}
#endif

#endif /* SEMICRF_H */
