// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.gpujoin.examples.run.Cli.UserError;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MissingFormatJarsTest {

    /** Loads the classes of this class path again, without jars of such names. */
    private static URLClassLoader without(String jars) throws Exception {
        Pattern missing = Pattern.compile(jars);
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            if (!missing.matcher(path.getFileName().toString()).lookingAt()) {
                classPath.add(path.toUri().toURL());
            }
        }
        return new URLClassLoader(
                classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    @ParameterizedTest
    @CsvSource({
        "avro, flink-table",
        "parquet, flink-table",
        "arrow, arrow-vector",
        "avro, flink-avro|avro",
        "parquet, flink-parquet|parquet|hadoop"
    })
    void shouldSayWhichJarsAClusterLacksForAFormat(String format, String jars, @TempDir Path data)
            throws Exception {
        try (URLClassLoader cluster = without(jars)) {
            Class<?> formats = cluster.loadClass(TableFormat.class.getName());
            Object wanted =
                    formats.getMethod("valueOf", String.class)
                            .invoke(null, format.toUpperCase(Locale.ROOT));
            Class<?> files = cluster.loadClass(TableFiles.class.getName());
            Throwable error =
                    catchThrowable(
                                    () ->
                                            files.getConstructor(Path.class, formats)
                                                    .newInstance(data, wanted))
                            .getCause();
            assertThat(error.getClass().getName()).isEqualTo(UserError.class.getName());
            assertThat(error)
                    .hasMessageStartingWith(
                            "Flink's table runtime or format jars are missing on the cluster. Add them"
                                    + " to its lib directory: format="
                                    + format
                                    + ", missing=");
        }
    }
}
