# Weir as an image: the sources as they are, run by type stripping; no build step.
FROM node:26-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:26-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json ./
COPY gateway ./gateway
COPY config ./config
COPY routes ./routes
RUN mkdir data && chown node:node data
USER node
EXPOSE 8080
# The admin address is on the loopback of the container unless gateway.yaml says otherwise.
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:9901/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "gateway/cli.ts", "start"]
