// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.FileJoin;
import io.github.gpujoin.examples.run.Cli;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Joins of files of every format give what DuckDB gives, which reads Parquet and CSV itself. */
class FileJoinITCase {

    /** Rows of which each type has few values, so that many are equal, and some are null. */
    private static final String ROWS =
            """
            select
              %1$sn::integer as %1$sn,
              if(%1$sn %% 11 = 3, null, (%1$sn * %2$d %% 37)::bigint) as %1$slong,
              if(%1$sn %% 13 = 5, null, 'key ' || (%1$sn * %2$d %% 41)) as %1$stext,
              (%1$sn * %2$d %% 29 / 4.0)::decimal(9, 2) as %1$ssmall,
              ('12345678901234567890.' || (10000 + %1$sn * %2$d %% 23))::decimal(38, 5) as %1$swide,
              date '1969-12-20' + (%1$sn * %2$d %% 31)::integer as %1$sday,
              timestamp '1970-01-01 00:00:00.000001' + interval (%1$sn * %2$d %% 17) hour as %1$sat,
              case %1$sn %% 5 when 0 then 'nan'::double when 1 then -0.0::double when 2 then 0.0
                else %1$sn %% 19 / 8.0 end::double as %1$sreal,
              %1$sn %% 2 = 0 as %1$sflag
            from range(%3$d) t(%1$sn)
            """;

    private static final int PARALLELISM = 2;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(PARALLELISM)
                            .build());

    @TempDir private Path directory;

    private record Run(int exitCode, String out, String err) {}

    private Run join(String build, String probe, String result, String... arguments) {
        List<String> all =
                new ArrayList<>(
                        List.of(
                                "--build=" + directory.resolve(build),
                                "--probe=" + directory.resolve(probe),
                                "--out=" + directory.resolve(result),
                                "--parallelism=" + PARALLELISM));
        if (Arrays.stream(arguments).noneMatch(each -> each.startsWith("--engine"))) {
            all.add("--engine=cpu");
        }
        all.addAll(Arrays.asList(arguments));
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine(new FileJoin());
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return new Run(line.execute(all.toArray(String[]::new)), out.toString(), err.toString());
    }

    private Connection duckDb() throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:duckdb:");
        try (Statement statement = connection.createStatement()) {
            statement.execute("set threads = 2");
            statement.execute("create table b as " + ROWS.formatted("b", 7, 60));
            statement.execute("create table p as " + ROWS.formatted("p", 5, 150));
            for (String side : List.of("b", "p")) {
                statement.execute(
                        "copy %s to '%s' (format parquet)"
                                .formatted(side, directory.resolve(side + ".parquet")));
                statement.execute(
                        "copy %s to '%s' (format csv, header)"
                                .formatted(side, directory.resolve(side + ".csv")));
            }
        }
        return connection;
    }

    private static List<String> rows(Connection connection, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            int columns = result.getMetaData().getColumnCount();
            while (result.next()) {
                StringBuilder row = new StringBuilder();
                for (int i = 1; i <= columns; i++) {
                    row.append(result.getObject(i)).append('|');
                }
                rows.add(row.toString());
            }
        }
        return rows;
    }

    @ParameterizedTest(name = "by {0}, {1}")
    @CsvSource({
        "long, full",
        "text, left",
        "small, inner",
        "wide, right",
        "day, semi",
        "at, anti",
        "real, inner",
        "flag, inner"
    })
    void shouldJoinParquetFilesByKeysOfEveryTypeAsDuckDbDoes(String key, String kind)
            throws Exception {
        try (Connection duckDb = duckDb()) {
            Run run =
                    join(
                            "b.parquet",
                            "p.parquet",
                            "out.parquet",
                            "--build-key=b" + key,
                            "--probe-key=p" + key,
                            "--kind=" + kind);
            assertThat(run.err()).isEmpty();
            assertThat(run.exitCode()).isZero();

            assertThat(rows(duckDb, "from '" + directory.resolve("out.parquet") + "'"))
                    .containsExactlyInAnyOrderElementsOf(
                            rows(
                                    duckDb,
                                    "from p %s join b on p%s = b%s".formatted(kind, key, key)));
        }
    }

    @ParameterizedTest(name = "{0} with engine {1}")
    @CsvSource({
        "parquet, auto, gpu or cpu +AT_RUN_TIME",
        "parquet, cpu, cpu +ASKED",
        "csv, auto, cpu +FEW_RESTARTS"
    })
    void shouldUseGpuOnlyIfItsFailureIsRestarted(String format, String engine, String plan)
            throws Exception {
        try (Connection duckDb = duckDb()) {
            String[] options = {
                "--build-key=blong", "--probe-key=plong", "--engine=" + engine, "--explain"
            };
            Run run = join("b." + format, "p." + format, "out." + format, options);
            assertThat(run.err()).isEmpty();
            assertThat(run.out()).containsPattern("all +" + plan);
        }
    }

    /** From Parquet to Avro and on to CSV and Parquet: nothing is lost on the way. */
    @Test
    void shouldTakeAndGiveEveryFormat() throws Exception {
        try (Connection duckDb = duckDb()) {
            String[] keys = {"--build-key=blong", "--probe-key=plong", "--null-safe"};
            assertThat(join("b.parquet", "p.parquet", "joined.avro", keys).err()).isEmpty();
            // Each row of p matches itself alone, so that the columns of the joined file stay.
            String[] again = {"--build-key=pn", "--probe-key=pn", "--kind=semi"};
            assertThat(join("p.csv", "joined.avro", "out.csv", again).err()).isEmpty();
            assertThat(join("p.parquet", "joined.avro", "out.parquet", again).err()).isEmpty();

            String sql = "from p join b on plong is not distinct from blong";
            assertThat(rows(duckDb, "from '" + directory.resolve("out.parquet") + "'"))
                    .containsExactlyInAnyOrderElementsOf(rows(duckDb, sql));
            assertThat(
                            rows(
                                    duckDb,
                                    "select pn, ptext, pwide, pday, pat, pflag, bsmall from read_csv('"
                                            + directory.resolve("out.csv")
                                            + "', types = {'pwide': 'decimal(38, 5)',"
                                            + " 'bsmall': 'decimal(9, 2)'})"))
                    .containsExactlyInAnyOrderElementsOf(
                            rows(
                                    duckDb,
                                    "select pn::bigint, ptext, pwide, pday, pat, pflag, bsmall "
                                            + sql));
        }
    }

    @Test
    void shouldGiveTheSameAnswerFromCsvAndParquet() throws Exception {
        try (Connection duckDb = duckDb()) {
            String[] keys = {"--build-key=btext", "--probe-key=ptext", "--kind=anti"};
            assertThat(join("b.csv", "p.csv", "csv.csv", keys).err()).isEmpty();
            assertThat(join("b.parquet", "p.parquet", "parquet.csv", keys).err()).isEmpty();
            String select = "select pn, plong, ptext, pday from read_csv('%s')";

            assertThat(rows(duckDb, select.formatted(directory.resolve("csv.csv"))))
                    .isNotEmpty()
                    .containsExactlyInAnyOrderElementsOf(
                            rows(duckDb, select.formatted(directory.resolve("parquet.csv"))));
        }
    }

    @Test
    void shouldReadAvroFilesWithASchemaOfAnotherTime() throws Exception {
        Schema written =
                SchemaBuilder.record("Customer")
                        .fields()
                        .requiredInt("id")
                        .requiredString("former")
                        .requiredString("name")
                        .endRecord();
        try (DataFileWriter<GenericRecord> file =
                new DataFileWriter<GenericRecord>(new GenericDatumWriter<>(written))
                        .create(written, directory.resolve("b.avro").toFile())) {
            for (int id = 0; id < 3; id++) {
                GenericRecord record = new GenericData.Record(written);
                record.put("id", id);
                record.put("former", "f" + id);
                record.put("name", "n" + id);
                file.append(record);
            }
        }
        Files.writeString(
                directory.resolve("now.avsc"),
                SchemaBuilder.record("Customer")
                        .fields()
                        .requiredString("name")
                        .requiredLong("id")
                        .name("city")
                        .type()
                        .stringType()
                        .stringDefault("unknown")
                        .endRecord()
                        .toString());
        Files.writeString(directory.resolve("p.csv"), "k\n1\n2\n7\n");

        Run run =
                join(
                        "b.avro",
                        "p.csv",
                        "out.csv",
                        "--build-key=id",
                        "--probe-key=k",
                        "--build-schema=" + directory.resolve("now.avsc"));

        assertThat(run.err()).isEmpty();
        assertThat(Files.readAllLines(directory.resolve("out.csv")))
                .containsExactlyInAnyOrder("k,name,id,city", "1,n1,1,unknown", "2,n2,2,unknown");
    }

    @Test
    void shouldSkipLinesThatCannotBeReadAndSayWhatIsWrongWithThem() throws Exception {
        Files.writeString(directory.resolve("b.csv"), "k,b\n1,x\ntwo\n03,z\n");
        Files.writeString(directory.resolve("p.csv"), "k,p\n1,a\n2,b\nthree,c,d\n3,e\n");
        String[] keys = {"--build-key=k", "--probe-key=k"};

        Run failed = join("b.csv", "p.csv", "out.csv", keys);
        assertThat(failed.exitCode()).isEqualTo(1);
        assertThat(failed.err()).contains("malformed line: file=").contains("fields, found");

        Path problems = directory.resolve("problems.txt");
        Run run =
                join(
                        "b.csv",
                        "p.csv",
                        "out.csv",
                        "--build-key=k",
                        "--probe-key=k",
                        "--bad-records=" + problems);
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("Skipped 2 bad records");
        // Keys of lines that are left out are no text that the others would be compared as.
        assertThat(Files.readAllLines(directory.resolve("out.csv")))
                .containsExactlyInAnyOrder("k,p,build.k,b", "1,a,1,x", "3,e,03,z");
        assertThat(Files.readAllLines(problems))
                .satisfiesExactlyInAnyOrder(
                        line ->
                                assertThat(line)
                                        .endsWith("b.csv, line=3, expected 2 fields, found 1"),
                        line ->
                                assertThat(line)
                                        .endsWith("p.csv, line=4, expected 2 fields, found 3"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "b.csv; --bad-records names an input file",
                "./p.csv; --bad-records names an input file",
                "./out.csv; --bad-records and --out name the same file",
                ".; --bad-records is a directory",
                "no/such/bad.txt; The directory of --bad-records does not exist",
            })
    void shouldRefuseAFileForBadRecordsThatIsSomethingElse(String file, String sentence)
            throws Exception {
        Files.writeString(directory.resolve("b.csv"), "k\n1\n");
        Files.writeString(directory.resolve("p.csv"), "k\n1\n1,2\n");
        String bad = "--bad-records=" + directory + "/" + file;

        Run run = join("b.csv", "p.csv", "out.csv", "--build-key=k", "--probe-key=k", bad);

        assertThat(run.err()).startsWith("gpu-join: " + sentence);
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("b.csv", "p.csv");
        assertThat(directory.resolve("b.csv")).hasContent("k\n1\n");
        assertThat(directory.resolve("p.csv")).hasContent("k\n1\n1,2\n");
    }

    @Test
    void shouldReadFailAndSkipForBadRecordsInAnyCase() throws Exception {
        Files.writeString(directory.resolve("b.csv"), "k\n1\n");
        Files.writeString(directory.resolve("p.csv"), "k\n1\n1,2\n");
        String[] keys = {"--build-key=k", "--probe-key=k", "--bad-records=Fail"};
        Run failed = join("b.csv", "p.csv", "out.csv", keys);
        assertThat(failed.err()).contains("malformed line: file=");
        assertThat(failed.exitCode()).isEqualTo(1);

        keys[2] = "--bad-records=Skip";
        Run run = join("b.csv", "p.csv", "out.csv", keys);
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("Skipped 1 bad records");
        assertThat(Path.of("Skip")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"fial", "skipp", ""})
    void shouldTakeNoMistypedWordForAFileOfBadRecords(String word) throws Exception {
        Files.writeString(directory.resolve("b.csv"), "k\n1\n");
        Files.writeString(directory.resolve("p.csv"), "k\n1\n1,2\n");
        String[] arguments = {"--build-key=k", "--probe-key=k", "--bad-records=" + word};

        Run run = join("b.csv", "p.csv", "out.csv", arguments);

        assertThat(run.err())
                .startsWith("gpu-join: Invalid --bad-records: '" + word + "'. Use fail, skip, or");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("b.csv", "p.csv");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 'File is empty, and so not a Parquet file: ', 'Delete it, or write it again.'",
        "0, 400, 'Parquet file is truncated, ', 'Copy or write it again.'",
        "4, 404, 'Not a Parquet file, ', 'Remove it, or read it with its own format.'"
    })
    void shouldNameWhatIsWrongWithAParquetFile(int from, int to, String fault, String remedy)
            throws Exception {
        duckDb().close();
        Path file = directory.resolve("b.parquet");
        Files.write(file, Arrays.copyOfRange(Files.readAllBytes(file), from, to));

        Run run = join("b.parquet", "p.parquet", "o.csv", "--build-key=bn", "--probe-key=pn");

        assertThat(run.err())
                .startsWith("gpu-join: " + fault)
                .contains("file=file:" + file + ", bytes=" + (to - from) + ". " + remedy);
        assertThat(run.exitCode()).isEqualTo(1);
    }

    @Test
    void shouldRefuseNestedParquetColumnsByName() throws Exception {
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(
                    "COPY (SELECT 1 AS k, [1] AS list) TO '%s' (FORMAT PARQUET)"
                            .formatted(directory.resolve("n.parquet")));
        }

        assertThat(join("n.parquet", "n.parquet", "o.csv", "--build-key=k", "--probe-key=k").err())
                .startsWith("gpu-join: Parquet column is nested, unsigned or of an unknown type: ")
                .contains("list", "n.parquet. Cast or remove the column.");
    }

    @Test
    void shouldRefuseFilesAndKeysThatDoNotGoTogether() throws Exception {
        duckDb().close();

        assertThat(
                        join(
                                        "b.parquet",
                                        "p.parquet",
                                        "out.csv",
                                        "--build-key=bday",
                                        "--probe-key=ptext")
                                .err())
                .contains("Key types differ, or are arrays, maps or records")
                .contains("build=DATE NOT NULL, probe=STRING");
        assertThat(join("p.csv", "b.csv", "o.avro", "--build-key=pn", "--probe-key=bn").err())
                .isEmpty();
        Files.writeString(directory.resolve("b.csv"), "a b\n1\n");
        assertThat(join("b.csv", "b.csv", "o.avro", "--build-key=a b", "--probe-key=a b").err())
                .contains(
                        "The result columns do not fit Avro. Rename them to letters, digits and _");
    }
}
