// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;

/** What a job needs in its class path, as README.md says. */
class ClassPathTest {

    public static final class Sale {
        public long id;
        public long shop;
    }

    public static final class Shop {
        public long id;
        public String city;
    }

    /** A job of records, which prints its results. */
    public static final class RecordJob {

        private RecordJob() {}

        public static void main(String[] args) throws Exception {
            StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
            DataStream<Sale> sales = env.fromData(new Sale());
            DataStream<Shop> shops = env.fromData(new Shop());
            List<Object> results = new ArrayList<>();
            StarJoin.of(sales)
                    .select("id")
                    .dimension(shops, d -> d.on("shop", "id").select("city"))
                    .toRows()
                    .executeAndCollect()
                    .forEachRemaining(results::add);
            System.out.println(results);
        }
    }

    private static String classPathWithout(String jars) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().startsWith(jars))
                .collect(Collectors.joining(File.pathSeparator));
    }

    @Test
    void shouldJoinRecordsWithoutFlinksTables() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String opened : List.of("java.lang", "java.util", "java.nio", "java.time")) {
            command.add("--add-opens=java.base/" + opened + "=ALL-UNNAMED");
        }
        command.addAll(List.of("-Xmx512m", "-cp", classPathWithout("flink-table")));
        command.add(RecordJob.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        assertThat(output).contains("[+I[0, null]]");
    }
}
