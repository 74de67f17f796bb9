// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.examples.FileJoin;
import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.examples.run.Cli.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Columns of Avro files are read as what they are, or refused. */
class AvroColumnsITCase {

    @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

    @TempDir private Path directory;

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '\'',
            value = {
                "{\"type\": \"array\", \"items\": \"int\"}; Type of an Avro field is not supported",
                "{\"type\": \"map\", \"values\": \"int\"}; Type of an Avro field is not supported",
                "[\"null\", {\"type\": \"record\", \"name\": \"R\", \"fields\": []}];"
                        + " Type of an Avro field is not supported",
                "[\"null\", \"int\", \"string\"]; Type of an Avro field is not supported",
                "\"null\"; Type of an Avro field is not supported",
                "{\"type\": \"long\", \"logicalType\": \"time-micros\"};"
                        + " Time of day finer than milliseconds",
                "[\"null\", {\"type\": \"long\", \"logicalType\": \"time-micros\"}];"
                        + " Time of day finer than milliseconds",
                "{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": 39};"
                        + " Decimal precision must be between 1 and 38",
            })
    void shouldRefuseColumnsThatRowsCannotHold(String type, String fault) throws IOException {
        Path schema =
                Files.writeString(
                        directory.resolve("s.avsc"),
                        """
                        {"type": "record", "name": "Row", "fields": [
                          {"name": "k", "type": "long"}, {"name": "odd", "type": %s}]}
                        """
                                .formatted(type));
        Path file = Files.createFile(directory.resolve("p.avro"));

        assertThatThrownBy(() -> RecordFile.open(file, null, "k", schema))
                .isInstanceOf(UserError.class)
                .hasMessageContaining(fault);
    }

    @Test
    void shouldJoinByTheTimeOfDay() throws IOException {
        Schema time = LogicalTypes.timeMillis().addToSchema(Schema.create(Schema.Type.INT));
        Schema schema =
                SchemaBuilder.record("Row")
                        .fields()
                        .requiredInt("n")
                        .name("at")
                        .type(Schema.createUnion(Schema.create(Schema.Type.NULL), time))
                        .withDefault(null)
                        .endRecord();
        write(schema, "b.avro", 1, null, 86_399_999);
        write(schema, "p.avro", 86_399_999, 2, 1, null);
        Path out = directory.resolve("out.csv");

        int exitCode =
                Cli.run(
                        new FileJoin(),
                        "--build=" + directory.resolve("b.avro"),
                        "--probe=" + directory.resolve("p.avro"),
                        "--build-key=at",
                        "--probe-key=at",
                        "--engine=cpu",
                        "--out=" + out);

        assertThat(exitCode).isZero();
        assertThat(Files.readAllLines(out))
                .containsExactlyInAnyOrder(
                        "n,at,build.n,build.at",
                        "0,23:59:59.999,2,23:59:59.999",
                        "2,00:00:00.001,0,00:00:00.001");
    }

    private void write(Schema schema, String name, Integer... times) throws IOException {
        try (DataFileWriter<GenericRecord> file =
                new DataFileWriter<GenericRecord>(new GenericDatumWriter<>(schema))
                        .create(schema, directory.resolve(name).toFile())) {
            for (int n = 0; n < times.length; n++) {
                GenericRecord record = new GenericData.Record(schema);
                record.put("n", n);
                record.put("at", times[n]);
                file.append(record);
            }
        }
    }
}
