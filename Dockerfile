# The command and the service in one image; docs/how-to/deploy.md says how to run it.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml CMakeLists.txt README.md LICENSE ./
COPY core core
COPY src src
# What the image can do beyond the library itself; `web,service,redis` is enough for the service and much smaller.
ARG EXTRAS=text,edit,io,web,service,redis
# hadolint ignore=DL3013
RUN python -m venv --without-pip /opt/neardup \
    && pip --python /opt/neardup/bin/python install --no-cache-dir ".[${EXTRAS}]"

FROM python:${PYTHON}-slim-bookworm
RUN useradd --uid 10001 --home-dir /data --create-home --shell /usr/sbin/nologin neardup
COPY --from=build /opt/neardup /opt/neardup
# Nothing is written outside of /data and /tmp, so that the rest may be read-only.
ENV PATH=/opt/neardup/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8080
# Not urllib: it would ask a proxy that the environment names.
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
    CMD ["python", "-c", "from http.client import HTTPConnection as C; c = C('127.0.0.1', 8080, timeout=4); c.request('GET', '/v1/health'); raise SystemExit(c.getresponse().status != 200)"]
ENTRYPOINT ["neardup"]
# To listen beyond the container the service needs a token: NEARDUP_TOKEN, or --token-file.
CMD ["serve", "/data/index.nd", "--host", "0.0.0.0", "--port", "8080"]
