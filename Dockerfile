# The chat server as an image: docs/deploy.md#13-in-containers. `docker build --tag showandtell .`
ARG PYTHON=3.13-slim-trixie

FROM python:${PYTHON} AS build
# Those of docs/install.md; `ocr` and `asr` double the size.
ARG EXTRAS=server,postgres,remote,office,images,av,telemetry
ENV UV_NO_CONFIG=1 UV_LINK_MODE=copy UV_SYSTEM_CERTS=1
WORKDIR /src
COPY requirements-uv.txt ./
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes --requirement requirements-uv.txt
COPY . .
# Node comes from PyPI, for the page; it stays in this stage.
RUN uv build --quiet --wheel --build-constraints requirements.txt --build-constraints requirements-node.txt \
    --build-constraints requirements-sbom.txt --require-hashes --out-dir /dist
# All versions and hashes are those of requirements.txt.
RUN uv venv --quiet /opt/showandtell \
    && uv pip install --quiet --python /opt/showandtell --compile-bytecode --constraints requirements.txt \
    "showandtell[${EXTRAS}] @ file://$(ls /dist/*.whl)"

FROM python:${PYTHON}
RUN useradd --uid 10001 --no-create-home --home-dir /var/lib/showandtell --shell /usr/sbin/nologin showandtell \
    && install --directory --owner showandtell --group showandtell --mode 0700 /var/lib/showandtell
COPY --from=build /opt/showandtell /opt/showandtell
COPY docs/deploy/with-secrets /usr/local/bin/with-secrets
ENV PATH=/opt/showandtell/bin:$PATH \
    HOME=/var/lib/showandtell \
    SHOWANDTELL_DATA=/var/lib/showandtell \
    SHOWANDTELL_HOST=0.0.0.0 \
    SHOWANDTELL_PORT=8000 \
    XDG_STATE_HOME=/var/lib/showandtell
WORKDIR /var/lib/showandtell
VOLUME /var/lib/showandtell
EXPOSE 8000
USER 10001
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('SHOWANDTELL_PORT', '8000') + '/readyz', timeout=4)"]
ENTRYPOINT ["with-secrets"]
CMD ["showandtell", "serve"]
