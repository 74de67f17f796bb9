// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.record.ColumnsKey;
import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.tools.ToolProvider;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FunctionIdentityTest {

    @TempDir private Path folder;

    private static FunctionIdentity of(Serializable function) {
        return FunctionIdentity.of("Function", function, "getKey");
    }

    private static FunctionIdentity key(KeySelector<Long, Long> selector) {
        return of(selector);
    }

    /** Compiles a class Job with a method function(), whose body is {@code selector}. */
    private Serializable compiled(String name, String before, String selector, String... options)
            throws Exception {
        String source =
                """
                import java.util.function.*;
                import org.apache.flink.api.java.functions.KeySelector;
                public class Job {
                    enum Color { RED, GREEN }
                    static long secret = 7;
                    private static long hidden(long n) { return n + secret; }
                    %s
                    public static KeySelector<Long, Long> function() { return %s; }
                    static class Named implements KeySelector<Long, Long> {
                        private final long by;
                        Named(long by) { this.by = by; }
                        public Long getKey(Long n) { return n * by; }
                    }
                }
                """
                        .formatted(before, selector);
        Path at = Files.createDirectories(folder.resolve(name));
        Path file = Files.writeString(at.resolve("Job.java"), source);
        List<String> arguments =
                new ArrayList<>(List.of("-nowarn", "-cp", System.getProperty("java.class.path")));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of("-d", at.toString(), file.toString()));
        assertThat(
                        ToolProvider.getSystemJavaCompiler()
                                .run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
        URLClassLoader loader =
                new URLClassLoader(new URL[] {at.toUri().toURL()}, getClass().getClassLoader());
        return (Serializable) loader.loadClass("Job").getMethod("function").invoke(null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "n -> n / 10 + (n > 3 ? 1 : 0)",
                "new KeySelector<>() { public Long getKey(Long n) { return n / 10; } }",
                "new Named(5)",
                "Job::hidden",
                "Long::reverse",
                "n -> hidden(n)",
                "n -> ((LongUnaryOperator) m -> m + n).applyAsLong(3)",
                "n -> new Object() { long twice() { return 2 * n; } }.twice()",
                "n -> { switch (\"x\" + n) { case \"x1\": return 1L; default: return n; } }",
            })
    void shouldNotSeeUnrelatedCode(String selector) throws Exception {
        String before =
                """
                static final Runnable OTHER = () -> System.out.println();
                static final Object FIRST = new Object() {};
                static Function<Long, Long> unrelated() {
                    return n -> new Object() { long thrice() { return 3 * n; } }.thrice();
                }
                """;
        FunctionIdentity was = of(compiled("was", "", selector));
        FunctionIdentity is = of(compiled("is", before, selector, "-g"));
        assertThat(is.digest()).isEqualTo(was.digest()).startsWith("1:");
    }

    /** Without nest mates, private members are read through numbered accessors. */
    @Test
    void shouldNotSeeNumbersOfAccessors() throws Exception {
        String selector =
                "new KeySelector<Long, Long>() { public Long getKey(Long n) { return hidden(n); } }";
        String before =
                """
                private static long other;
                static class Reader { long read() { return other++; } }
                """;
        FunctionIdentity was = of(compiled("was", "", selector, "--release", "8"));
        FunctionIdentity is = of(compiled("is", before, selector, "--release", "8"));
        assertThat(is.digest()).isEqualTo(was.digest()).startsWith("1:");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "n -> n / 10|n -> n / 11",
                "n -> n + 1|n -> n - 1",
                "n -> hidden(n)|n -> Math.abs(n)",
                "Long::reverse|Long::reverseBytes",
                "new Named(5)|new Named(6)",
                "n -> ((LongUnaryOperator) m -> m + n).applyAsLong(3)"
                        + "|n -> ((LongUnaryOperator) m -> m - n).applyAsLong(3)",
                "new KeySelector<>() { public Long getKey(Long n) { return n / 10; } }"
                        + "|new KeySelector<>() { public Long getKey(Long n) { return n / 9; } }",
            })
    void shouldSeeAnotherFunction(String was, String is) throws Exception {
        assertThat(of(compiled("is", "", is)).differsFrom(of(compiled("was", "", was)))).isTrue();
    }

    @Test
    void shouldSeeCapturedValues() {
        for (Object[] pair :
                new Object[][] {
                    {1L, 2L},
                    {"a", "b"},
                    {1, 1L},
                    {new BigDecimal("1.0"), new BigDecimal("1.00")},
                    {TimeUnit.DAYS, TimeUnit.HOURS},
                    {List.of(1, 2), List.of(2, 1)},
                    {Set.of(1, 2), Set.of(1, 3)},
                    {Map.of("a", 1), Map.of("a", 2)},
                    {new long[] {1}, new long[] {2}},
                    {new Limit(1), new Limit(2)},
                    {
                        (Function<Long, Long> & Serializable) n -> n + 1,
                        (Function<Long, Long> & Serializable) n -> n + 2
                    },
                    {null, "a"},
                }) {
            assertThat(capturing(pair[0]).differsFrom(capturing(pair[1])))
                    .as("%s and %s", pair[0], pair[1])
                    .isTrue();
            assertThat(capturing(pair[0]).digest()).isEqualTo(capturing(pair[0]).digest());
        }
    }

    private static FunctionIdentity capturing(Object value) {
        return key(n -> n + String.valueOf(value).length());
    }

    private record Limit(int most) implements Serializable {}

    /** Iteration orders of these depend on addresses, or on a salt of the process. */
    @Test
    void shouldNotSeeOrderOfSetsAndMaps() {
        Map<String, Integer> first = new HashMap<>(2);
        Map<String, Integer> second = new HashMap<>(1024);
        for (int i = 0; i < 100; i++) {
            first.put("k" + i, i);
            second.put("k" + (99 - i), 99 - i);
        }
        assertThat(capturing(second).digest()).isEqualTo(capturing(first).digest());
        assertThat(capturing(Set.copyOf(second.keySet())).digest())
                .isEqualTo(capturing(new TreeSet<>(first.keySet())).digest());
        assertThat(capturing(EnumSet.allOf(TimeUnit.class)).digest())
                .isEqualTo(capturing(Set.of(TimeUnit.values())).digest());
    }

    /** An instance that the lambda belongs to, with an id that no two runs share. */
    private static final class Instance implements Serializable {
        private final String run = UUID.randomUUID().toString();
        private final long by;

        private Instance(long by) {
            this.by = by;
        }

        private KeySelector<Long, Long> selector() {
            return n -> n * by;
        }

        private KeySelector<Long, Long> anonymous() {
            return new KeySelector<>() {
                @Override
                public Long getKey(Long n) {
                    return n * by;
                }
            };
        }

        private String run() {
            return run;
        }
    }

    @Test
    void shouldSeeFieldsThatFunctionReadsAlone() {
        assertThat(new Instance(2).run()).isNotEqualTo(new Instance(2).run());
        assertThat(key(new Instance(2).selector()).digest())
                .isEqualTo(key(new Instance(2).selector()).digest());
        assertThat(key(new Instance(2).selector()).differsFrom(key(new Instance(3).selector())))
                .isTrue();
        assertThat(key(new Instance(2).anonymous()).digest())
                .isEqualTo(key(new Instance(2).anonymous()).digest())
                .startsWith("1:");
    }

    /** Remembers its hash once somebody asked for it. */
    private static final class Remembering implements Serializable {
        private int hash;

        @Override
        public int hashCode() {
            hash = 42;
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Remembering;
        }
    }

    @Test
    void shouldNotSeeWhatObjectsRemember() {
        Remembering used = new Remembering();
        assertThat(used).hasSameHashCodeAs(used);
        assertThat(capturing(used).digest()).isEqualTo(capturing(new Remembering()).digest());
    }

    @Test
    void shouldNotCompareFunctionWithoutClassFile() {
        InvocationHandler handler = (proxy, method, arguments) -> 1L;
        KeySelector<?, ?> proxy =
                (KeySelector<?, ?>)
                        Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {KeySelector.class},
                                handler);
        FunctionIdentity unknown = of(proxy);
        assertThat(unknown.differsFrom(key(n -> n))).isFalse();
        assertThat(key(n -> n).differsFrom(unknown)).isFalse();
    }

    /** All switches of a class over an enum share a numbering of its values. */
    @Test
    void shouldNotCompareSwitchOverEnum() throws Exception {
        String selector =
                "n -> { switch (Color.values()[n.intValue()]) { case RED: return 1L; default: return"
                        + " 2L; } }";
        FunctionIdentity was = of(compiled("was", "", selector));
        assertThat(was.digest()).isEqualTo("?");
    }

    @Test
    void shouldKnowKeyColumnsByName() {
        FunctionIdentity ab = of(new ColumnsKey<>(Types.ROW_NAMED(names(), types()), List.of("a")));
        FunctionIdentity b = of(new ColumnsKey<>(Types.ROW_NAMED(names(), types()), List.of("b")));
        assertThat(ab.differsFrom(b)).isTrue();
        assertThat(ab).hasToString("columns [a]@1:[a]");
    }

    private static String[] names() {
        return new String[] {"a", "b"};
    }

    private static TypeInformation<?>[] types() {
        return new TypeInformation<?>[] {Types.LONG, Types.LONG};
    }

    @Test
    void shouldBeReadFromItsText() {
        FunctionIdentity identity = capturing(URI.create("http://localhost"));
        assertThat(FunctionIdentity.parse(identity.toString())).isEqualTo(identity);
    }
}
