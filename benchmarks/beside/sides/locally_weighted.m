% The authors' LWEA and LWGP in Octave: what run_side.py does, with the arrays of the task as CSV files.
%   octave-cli locally_weighted.m CODE_FOLDER lwea|lwgp FOLDER
1;

function megabytes = peak_mb()
  words = regexp(fileread("/proc/self/status"), 'VmHWM:\s+(\d+)', "tokens");
  megabytes = str2double(words{1}{1}) / 1024;
end

function answer = solve(which, labels, k, seed)
  rand("twister", seed); randn("twister", seed);
  [codes, segments] = getAllSegs(labels);
  weights = computeECI(codes, segments, 0.4);
  if strcmp(which, "lwea")
    answer = runLWEA(computeLWCA(segments, weights, columns(labels)), k);
  else
    answer = runLWGP(codes, segments, weights, k);
  end
end

arguments = argv();
addpath(arguments{1});
pkg load statistics
which = arguments{2};
folder = arguments{3};
labels = csvread(fullfile(folder, "labels.csv")) + 1;
k = csvread(fullfile(folder, "k.csv"))(1);
before = peak_mb();
costs = [];
runs = 0;
while rows(costs) < max(runs, 1)
  seed = rows(costs);
  cpu = cputime(); wall = time();
  answer = solve(which, labels, k, seed);
  spent = [cputime() - cpu, time() - wall];
  if runs == 0
    runs = 1 + 2 * (spent(1) < 60) + 2 * (spent(1) < 0.3);
    if spent(1) < 2
      continue % that was to warm up
    end
  end
  costs = [costs; spent];
  csvwrite(fullfile(folder, sprintf("answer_%d.csv", seed)), answer);
end
file = fopen(fullfile(folder, "cost.json"), "w");
fprintf(file, '{"cpu_s": %s, "wall_s": %s, "before_mb": %f, "peak_mb": %f, "version": "code of 2018"}\n', ...
        jsonencode(costs(:, 1)'), jsonencode(costs(:, 2)'), before, peak_mb());
fclose(file);
