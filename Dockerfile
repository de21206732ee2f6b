# The grader in a container.
#
#   docker build --tag attention-seminar .
#   docker run --rm attention-seminar doctor
#   docker run --rm --volume "$PWD:/course" attention-seminar grade 04-attention
#
# The mounted course folder must be writable for the user in the container: build with --build-arg UID="$(id -u)" if
# your user id is not 1000. The image holds all solutions and hidden tests, so do not give it to students.
#
# The host must run Linux 5.13 or later with Landlock enabled (`landlock` in /sys/kernel/security/lsm). The grader
# confines student code without privileges: it needs no added capability, and Docker's default seccomp profile allows
# the landlock_* system calls since Docker 20.10.18. If the kernel refuses them, grading stops with an error.

FROM python:3.11-slim AS base
ARG UID=1000
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libseccomp2 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid "$UID" seminar

# For .devcontainer: the tools for development. `make` installs the Python packages there, into .venv.
FROM base AS dev
RUN apt-get update \
    && apt-get install --yes --no-install-recommends chromium git make \
    && rm -rf /var/lib/apt/lists/*
USER seminar

FROM base
# Optional: an additional package index, for example one with torch for CPUs only, which is much smaller.
ARG PIP_EXTRA_INDEX_URL
WORKDIR /seminar
# The pinned packages come first: a change of the code then reuses their layer.
COPY requirements.txt constraints.txt ./
RUN sed --regexp-extended '/^(-e|--editable) /d' requirements.txt > pinned.txt \
    && pip install --no-cache-dir --requirement pinned.txt \
    && rm pinned.txt
COPY . .
RUN pip install --no-cache-dir --no-deps --editable packages/grader-kernel --editable packages/grader --editable . \
    && install --directory --owner=seminar /course
USER seminar
WORKDIR /course
ENTRYPOINT ["grader"]
CMD ["--help"]
