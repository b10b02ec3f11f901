#include "model/score_source.h"
