// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.DecodedRows;
import io.github.gpujoin.kafka.RecordDecoder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ConfluentAvroFormatTest {

    private static final ChunkSchema COLUMNS = ChunkSchema.of(Column.of("id", ColumnType.INT64));

    private final Map<Integer, String> schemas = new ConcurrentHashMap<>();
    private final AtomicInteger requests = new AtomicInteger();
    private volatile String login = "";
    private HttpServer server;
    private String url;

    @BeforeEach
    void startRegistry() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        url = "http://localhost:" + server.getAddress().getPort();
        server.createContext(
                "/schemas/ids/",
                exchange -> {
                    requests.incrementAndGet();
                    login = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
                    String path = exchange.getRequestURI().getPath();
                    String schema =
                            schemas.get(
                                    Integer.parseInt(path.substring(path.lastIndexOf('/') + 1)));
                    byte[] body =
                            new ObjectMapper()
                                    .writeValueAsBytes(
                                            schema == null
                                                    ? Map.of("error_code", 40403)
                                                    : Map.of("schema", schema, "refs", List.of()));
                    exchange.sendResponseHeaders(schema == null ? 404 : 200, body.length);
                    exchange.getResponseBody().write(body);
                    exchange.close();
                });
        server.start();
    }

    @AfterEach
    void stopRegistry() {
        server.stop(0);
    }

    private static byte[] framed(int id, int... record) {
        ByteBuffer value = ByteBuffer.allocate(5 + record.length).put((byte) 0).putInt(id);
        for (int next : record) {
            value.put((byte) next);
        }
        return value.array();
    }

    private static Schema schema(String... longs) {
        var fields = SchemaBuilder.record("Row").fields();
        for (String name : longs) {
            fields.requiredLong(name);
        }
        return fields.endRecord();
    }

    @Test
    void shouldReadEachValueByTheSchemaOfItsIdAskedOnce() throws IOException {
        schemas.put(1, schema("id").toString());
        schemas.put(70_000, schema("other", "id").toString());
        List<byte[]> values =
                List.of(framed(1, 2), framed(70_000, 8, 4), framed(1, 6), framed(70_000, 9, 8));

        assertThat(
                        DecodedRows.of(
                                ConfluentAvroFormat.of(
                                        HttpSchemaRegistry.of(url + "/").withLogin("u", "p")),
                                COLUMNS,
                                values))
                .isEqualTo(List.of(List.of(1L), List.of(2L), List.of(3L), List.of(4L)));
        assertThat(requests).hasValue(2);
        assertThat(login).isEqualTo("Basic dTpw");
    }

    @Test
    void shouldNameIdAndUrlOfASchemaThatIsMissing() {
        assertThatThrownBy(
                        () ->
                                DecodedRows.of(
                                        ConfluentAvroFormat.of(HttpSchemaRegistry.of(url)),
                                        COLUMNS,
                                        List.of(framed(5, 2))))
                .isInstanceOf(BadRecordException.class)
                .hasMessage(
                        "The schema registry has no such schema: id=5, url="
                                + url
                                + "/schemas/ids/5");
    }

    @Test
    void shouldNotAskForEachRecordWhoseSchemaIsMissing() throws IOException {
        RecordDecoder decoder =
                ConfluentAvroFormat.of(HttpSchemaRegistry.of(url).withLogin("u", "p"))
                        .open(COLUMNS);
        RowWriter row = new RowWriter(new ChunkBuilder(COLUMNS, 1000));
        for (int i = 0; i < 10; i++) {
            assertThatThrownBy(() -> decoder.decode(framed(5, 2), row))
                    .isInstanceOf(BadRecordException.class)
                    .hasMessageContaining("no such schema: id=5");
        }
        assertThat(requests).hasValue(1);
    }

    @Test
    void shouldFailWithoutBlamingTheRecordIfTheRegistryIsAway() {
        stopRegistry();
        assertThatThrownBy(
                        () ->
                                DecodedRows.of(
                                        ConfluentAvroFormat.of(HttpSchemaRegistry.of(url)),
                                        COLUMNS,
                                        List.of(framed(5, 2))))
                .isNotInstanceOf(BadRecordException.class)
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "The schema registry cannot be reached: id=5, url="
                                + url
                                + "/schemas/ids/5");
    }

    @Test
    void shouldNameTheIdOfASchemaWithoutAColumn() {
        assertThatThrownBy(
                        () ->
                                DecodedRows.of(
                                        ConfluentAvroFormat.of(id -> schema("no").toString()),
                                        COLUMNS,
                                        List.of(framed(9, 2))))
                .isInstanceOf(BadRecordException.class)
                .hasMessageContaining("Schema of the registry does not fit: id=9")
                .hasMessageContaining("column=id, fields=[no]");
    }

    @Test
    void shouldRefuseValuesWithoutAFrame() {
        assertThatThrownBy(
                        () ->
                                DecodedRows.of(
                                        ConfluentAvroFormat.of(id -> ""),
                                        COLUMNS,
                                        List.of(new byte[] {1, 2, 3, 4, 5, 6})))
                .isInstanceOf(BadRecordException.class)
                .hasMessageContaining("no Confluent frame")
                .hasMessageContaining("lengthBytes=6, firstByte=1");
    }
}
