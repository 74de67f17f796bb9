// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.github.gpujoin.formats.record.BadRecordException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;
import org.jspecify.annotations.Nullable;

/**
 * A schema registry with Confluent's interface: {@code GET /schemas/ids/ID}. It waits at most 10
 * seconds to connect, and as long for an answer. Immutable.
 */
@PublicEvolving
public final class HttpSchemaRegistry implements SchemaRegistry {

    private static final long serialVersionUID = 1L;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int SUBJECT_NOT_FOUND = 404;

    private final String url;
    private final @Nullable String authorization;

    private HttpSchemaRegistry(String url, @Nullable String authorization) {
        this.url = url;
        this.authorization = authorization;
    }

    /**
     * Creates the client of a registry.
     *
     * @param url for example {@code http://registry:8081}
     * @return the registry
     */
    public static HttpSchemaRegistry of(String url) {
        Objects.requireNonNull(url, "url");
        String scheme = URI.create(url).getScheme();
        if (!"http".equals(scheme) && !"https".equals(scheme)) {
            throw new IllegalArgumentException("URL of a registry is not HTTP: url=" + url);
        }
        return new HttpSchemaRegistry(url.replaceAll("/+$", ""), null);
    }

    /**
     * Returns a client that logs in with HTTP's basic authentication. The job graph contains the
     * password.
     *
     * @param user name
     * @param password of the user
     * @return the registry
     */
    public HttpSchemaRegistry withLogin(String user, String password) {
        byte[] login =
                (Objects.requireNonNull(user, "user")
                                + ":"
                                + Objects.requireNonNull(password, "password"))
                        .getBytes(StandardCharsets.UTF_8);
        return new HttpSchemaRegistry(url, "Basic " + Base64.getEncoder().encodeToString(login));
    }

    @Override
    public String schema(int id) throws IOException {
        URI uri = URI.create(url + "/schemas/ids/" + id);
        HttpRequest.Builder request =
                HttpRequest.newBuilder(uri)
                        .timeout(TIMEOUT)
                        .header("Accept", "application/vnd.schemaregistry.v1+json");
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        HttpResponse<byte[]> response = send(request.build(), id);
        if (response.statusCode() == SUBJECT_NOT_FOUND) {
            throw new BadRecordException(
                    "The schema registry has no such schema: id=" + id + ", url=" + uri);
        }
        if (response.statusCode() != 200) {
            throw new IOException(
                    "The schema registry refuses a schema: id="
                            + id
                            + ", url="
                            + uri
                            + ", status="
                            + response.statusCode());
        }
        return schemaOf(response.body(), uri);
    }

    @Override
    public String toString() {
        return url;
    }

    private static HttpResponse<byte[]> send(HttpRequest request, int id) throws IOException {
        try {
            return HttpClient.newBuilder()
                    .connectTimeout(TIMEOUT)
                    .build()
                    .send(request, HttpResponse.BodyHandlers.ofByteArray());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while asking the schema registry: id=" + id, e);
        } catch (IOException e) {
            throw new IOException(
                    "The schema registry cannot be reached: id=" + id + ", url=" + request.uri(),
                    e);
        }
    }

    private static String schemaOf(byte[] answer, URI uri) throws IOException {
        String schema = null;
        String type = "AVRO";
        try (JsonParser json = new JsonFactory().createParser(answer)) {
            json.nextToken();
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken value = json.nextToken();
                if (name.equals("schema") && value == JsonToken.VALUE_STRING) {
                    schema = json.getText();
                } else if (name.equals("schemaType") && value == JsonToken.VALUE_STRING) {
                    type = json.getText();
                }
                json.skipChildren();
            }
        } catch (JsonProcessingException e) {
            throw new IOException("The schema registry's answer is no JSON: url=" + uri, e);
        }
        if (schema == null || !type.equals("AVRO")) {
            throw new IOException(
                    "The schema registry returned no Avro schema: url=" + uri + ", type=" + type);
        }
        return schema;
    }
}
