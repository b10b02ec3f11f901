# mhsmm on the numbers of a folder: model.R (a list), x.txt (a value per line). Writes result.txt: the log likelihood and the score of
# the best path, then the smoothed probabilities of each position. With a number of iterations it times posteriors and fits instead.
folder <- commandArgs(trailingOnly = TRUE)[1]
iterations <- as.integer(commandArgs(trailingOnly = TRUE)[2])
if (!suppressWarnings(suppressMessages(require(mhsmm, quietly = TRUE)))) quit(status = 77)
given <- dget(file.path(folder, "model.R"))
x <- scan(file.path(folder, "x.txt"), quiet = TRUE)
states <- length(given$init)
spec <- hsmmspec(init = given$init, transition = matrix(given$transition, states, byrow = TRUE),
                 parms.emission = list(mu = given$mean, sigma = given$variance),
                 sojourn = list(d = matrix(given$duration, ncol = states, byrow = TRUE), type = "nonparametric"),
                 dens.emission = dnorm.hsmm, mstep = mstep.norm)
data <- list(x = x, N = length(x))
class(data) <- "hsmm.data"
if (!is.na(iterations)) {
  cat(system.time(predict(spec, data, method = "smoothed"))[["user.self"]], "\n")
  for (n in c(1, 1 + iterations)) cat(system.time(hsmmfit(data, spec, maxit = n, M = nrow(spec$sojourn$d)))[["user.self"]], "\n")
  quit(status = 0)
}
first <- hsmmfit(data, spec, maxit = 1, M = nrow(spec$sojourn$d))
path <- predict(spec, data, method = "viterbi")
rows <- rbind(c(first$loglik[1], path$loglik, rep(0, states - 2)), matrix(first$estep_variables$gamma, ncol = states))
lines <- apply(rows, 1, function(row) paste(sprintf("%.17g", row), collapse = " "))
writeLines(lines, file.path(folder, "result.txt"))
