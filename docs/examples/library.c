/* Two labels that last 2 to 5 positions, and twelve positions with a score for each label
 * (docs/api/library.md). */
#include <math.h>
#include <semicrf.h>
#include <stdio.h>

int main(void) {
  /* Each label is followed by the other one, and lasts 2 to 5 positions: (K, C), a row for each duration. */
  const double never = -INFINITY;
  const double transition[] = {never, 0, 0, never};
  const double duration[] = {never, never, -1.4, -1.4, -1.4, -1.4, -1.4, -1.4, -1.4, -1.4};
  const char* const labels[] = {"rest", "active"};
  semicrf_tables tables = {0};
  tables.num_labels = 2;
  tables.max_duration = 5;
  tables.labels = labels;
  tables.transition = transition;
  tables.duration = duration;
  tables.initial = "none";

  /* (T, C), from a network or any other place; start scores, end scores and constraints may be added. */
  const float scores[] = {1, 0, 1, 0, 1, 0, 0, 1, 0, 3, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0};
  double boundary[12], log_z = 0;
  semicrf_sequence sequence = {0};
  sequence.scores = (semicrf_array){scores, SEMICRF_FLOAT32, 12, 2, 2 * sizeof(float), sizeof(float)};
  sequence.boundary = (semicrf_output){boundary, SEMICRF_FLOAT64, 12, 1, sizeof(double), sizeof(double)};

  semicrf_request request = {0};
  request.log_partition = 1;
  request.best_path = 1;

  semicrf_model* model = NULL;
  semicrf_engine* engine = NULL;
  semicrf_result* result = NULL;
  semicrf_path path = {0};
  semicrf_segment segments[12];
  semicrf_error error;
  const int failed =
      semicrf_model_make(&tables, &model, &error) || semicrf_engine_make(model, NULL, &engine, &error) ||
      semicrf_compute(engine, &sequence, 1, &request, &result, &error) ||
      semicrf_result_number(result, 0, SEMICRF_LOG_PARTITION, &log_z, &error) ||
      semicrf_result_path(result, 0, SEMICRF_BEST_PATH, 0, &path, &error) ||
      semicrf_result_segments(result, 0, SEMICRF_BEST_PATH, 0, segments, 12, &error);
  if (failed) {
    fprintf(stderr, "%s\n", error.text);
  } else {
    printf("log Z %.4f, the best path scores %.4f\n", log_z, path.score);
    for (size_t i = 0; i < path.num_segments; ++i)
      printf("%2d to %2d %-6s P(starts there) %.3f\n", (int)segments[i].begin, (int)segments[i].end,
             labels[segments[i].label], boundary[segments[i].begin]);
  }
  semicrf_result_free(result);
  semicrf_engine_free(engine);
  semicrf_model_free(model);
  return failed;
}
