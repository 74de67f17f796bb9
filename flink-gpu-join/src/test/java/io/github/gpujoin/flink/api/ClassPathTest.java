// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
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

    /** Builds a job of records. */
    public static final class RecordJob implements Callable<String> {

        @Override
        public String call() {
            StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
            DataStream<Sale> sales = env.fromData(new Sale());
            DataStream<Shop> shops = env.fromData(new Shop());
            StarJoin.of(sales)
                    .select("id")
                    .dimension(shops, d -> d.on("shop", "id").select("city"))
                    .toRows()
                    .print();
            return env.getStreamGraph().getStreamNodes().toString();
        }
    }

    private static ClassLoader without(String jars) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            if (!path.getFileName().toString().startsWith(jars)) {
                urls.add(path.toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    @Test
    void shouldJoinRecordsWithoutFlinksTables() throws Exception {
        ClassLoader loader = without("flink-table");
        assertThatThrownBy(() -> loader.loadClass("org.apache.flink.table.types.DataType"))
                .isInstanceOf(ClassNotFoundException.class);
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            Object job =
                    loader.loadClass(RecordJob.class.getName())
                            .getDeclaredConstructor()
                            .newInstance();
            assertThat(((Callable<?>) job).call().toString()).contains("star-join");
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }
}
