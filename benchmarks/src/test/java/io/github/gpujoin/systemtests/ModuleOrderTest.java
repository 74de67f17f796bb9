// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.Experimental;
import org.apache.flink.annotation.PublicEvolving;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Holds the order of modules and packages, and what only single places may do. */
class ModuleOrderTest {

    private static final String ROOT = "io.github.gpujoin.";

    /**
     * From the floor up. A package may use those of the lines above its own; those of one line do
     * not know each other. The modules {@code rdma}, {@code kernels} and {@code cpu} are one line.
     */
    private static final List<List<String>> LEVELS =
            List.of(
                    List.of("core.region", "core.natives", "core.thread"),
                    List.of("core.layout"),
                    List.of("core.histogram"),
                    List.of("core.encoding", "core.engine", "core.ring", "core.slot"),
                    List.of("core.bulk"),
                    List.of("core.symmetric"),
                    List.of("core.reference", "core.filter"),
                    List.of("rdma", "kernels", "cpu"),
                    List.of("hybrid"),
                    List.of(
                            "flink.api.options",
                            "flink.api.explain",
                            "flink.record",
                            "flink.exchange",
                            "flink.exchange.local",
                            "flink.exchange.backpressure"),
                    List.of("flink.api.data", "flink.config"),
                    List.of(
                            "flink.exchange.ring",
                            "flink.runtime.distribution",
                            "flink.api.source"),
                    List.of("flink.filter"),
                    List.of("flink.pack"),
                    List.of("flink.state"),
                    List.of("flink.emit"),
                    List.of("flink.engine", "flink.runtime.eventtime", "flink.runtime.expiry"),
                    List.of("flink.metrics"),
                    List.of("flink.runtime.histogram"),
                    List.of("flink.runtime"),
                    List.of("flink.runtime.bulk"),
                    List.of("flink.runtime.symmetric"),
                    List.of("flink.plan"),
                    List.of("flink.api"),
                    List.of("sql.explain", "sql.exec", "sql.loader"),
                    List.of("sql.physical"),
                    List.of("sql.plan"),
                    List.of("sql"),
                    List.of("formats"),
                    List.of("kafka"),
                    List.of("examples"),
                    List.of("benchmarks"),
                    List.of("systemtests"),
                    List.of("report"),
                    List.of("bench"));

    private static final String[] LIBRARY = {
        ROOT + "core..",
        ROOT + "rdma..",
        ROOT + "kernels..",
        ROOT + "cpu..",
        ROOT + "hybrid..",
        ROOT + "flink..",
        ROOT + "sql..",
        ROOT + "formats..",
        ROOT + "kafka.."
    };

    /** What a user's code does not see. */
    private static final String[] INTERNAL = {
        ROOT + "cpu..",
        ROOT + "hybrid..",
        ROOT + "flink.config..",
        ROOT + "flink.plan..",
        ROOT + "flink.record..",
        ROOT + "flink.pack..",
        ROOT + "flink.exchange..",
        ROOT + "flink.runtime..",
        ROOT + "flink.state..",
        ROOT + "flink.engine..",
        ROOT + "flink.emit..",
        ROOT + "flink.filter..",
        ROOT + "flink.metrics..",
        ROOT + "sql.exec..",
        ROOT + "sql.physical..",
        ROOT + "sql.plan.."
    };

    /** What signatures of the API mention; the last are in a module that knows no Flink. */
    private static final DescribedPredicate<JavaClass> SHOWN_TO_USERS =
            resideInAnyPackage(
                            ROOT + "flink.api..", "java..", "org.apache.flink..", "org.rocksdb..")
                    .or(belongTo(type(Chunk.class)))
                    .or(belongTo(type(ChunkSchema.class)))
                    .or(belongTo(type(RowView.class)))
                    .or(belongTo(type(LongCondition.class)))
                    .or(DescribedPredicate.describe("primitive", JavaClass::isPrimitive));

    private static final JavaClasses CLASSES =
            new ClassFileImporter()
                    .withImportOption(new ImportOption.DoNotIncludeTests())
                    .withImportOption(location -> !location.contains("-tests.jar"))
                    .importPackages("io.github.gpujoin");

    static Stream<String> packages() {
        return LEVELS.stream().flatMap(List::stream);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("packages")
    void shouldUseOnlyPackagesFurtherUp(String name) {
        noClasses()
                .that()
                .resideInAPackage(pattern(name))
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(outOfReach(name))
                .allowEmptyShould(true) // a module that a later version fills
                .check(CLASSES);
    }

    @Test
    void shouldGiveEveryClassAPlaceInTheOrder() {
        String[] known = packages().map(ModuleOrderTest::pattern).toArray(String[]::new);
        classes().should().resideInAnyPackage(known).check(CLASSES);
    }

    @Test
    void shouldSeeTheClassesOfEveryModule() {
        assertThat(Stream.of("core", "cpu", "flink", "examples", "benchmarks"))
                .allMatch(
                        module ->
                                CLASSES.stream()
                                        .anyMatch(
                                                c -> c.getPackageName().startsWith(ROOT + module)));
    }

    @Test
    void shouldHaveNoPackageCycle() {
        slices().matching(ROOT + "(**)").should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void shouldLetExamplesUseOnlyThePublicApi() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + "examples..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(INTERNAL)
                .check(CLASSES);
    }

    @Test
    void shouldMarkPublicTypesWithTheirStability() {
        classes()
                .that()
                .resideInAPackage(ROOT + "flink.api..")
                .and()
                .arePublic()
                .should()
                .beAnnotatedWith(PublicEvolving.class)
                .orShould()
                .beAnnotatedWith(Experimental.class)
                .check(CLASSES);
    }

    @Test
    void shouldKeepInternalTypesOutOfApiSignatures() {
        methods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAPackage(ROOT + "flink.api..")
                .and()
                .areDeclaredInClassesThat()
                .arePublic()
                .and(visibleToUsers())
                .should(mentionNoTypeThat(not(SHOWN_TO_USERS)))
                .check(CLASSES);
    }

    @Test
    void shouldTouchUnsafeOnlyInMemory() {
        noClasses()
                .that(not(belongTo(name(Memory.class.getName()))))
                .should()
                .dependOnClassesThat(
                        simpleName("Unsafe").and(resideInAnyPackage("sun.misc", "jdk.internal..")))
                .check(CLASSES);
    }

    @Test
    void shouldLogThroughSlf4jOnly() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.util.logging..", "org.apache.logging..")
                .check(CLASSES);
    }

    @Test
    void shouldPrintNothingFromTheLibrary() {
        noClasses()
                .that()
                .resideInAnyPackage(LIBRARY)
                .should(ACCESS_STANDARD_STREAMS)
                .check(CLASSES);
    }

    /** A package with those within it, but for the ones that have a line of their own. */
    private static String pattern(String name) {
        boolean divided = packages().anyMatch(other -> other.startsWith(name + "."));
        return ROOT + (divided ? name : name + "..");
    }

    /** All packages on the line of the named one and on the lines below it. */
    private static String[] outOfReach(String name) {
        List<String> out = new ArrayList<>();
        boolean reached = false;
        for (List<String> level : LEVELS) {
            reached |= level.contains(name);
            if (reached) {
                out.addAll(level);
            }
        }
        out.remove(name);
        return out.stream().map(ModuleOrderTest::pattern).toArray(String[]::new);
    }

    private static DescribedPredicate<JavaMethod> visibleToUsers() {
        return DescribedPredicate.describe(
                "are public or protected",
                method ->
                        method.getModifiers().contains(JavaModifier.PUBLIC)
                                || method.getModifiers().contains(JavaModifier.PROTECTED));
    }

    private static ArchCondition<JavaMethod> mentionNoTypeThat(
            DescribedPredicate<? super JavaClass> internal) {
        return new ArchCondition<>("mention no type that " + internal.getDescription()) {
            @Override
            public void check(JavaMethod method, ConditionEvents events) {
                Stream.concat(
                                Stream.of(method.getReturnType()),
                                method.getParameterTypes().stream())
                        .flatMap(type -> type.getAllInvolvedRawTypes().stream())
                        .filter(internal)
                        .forEach(
                                type ->
                                        events.add(
                                                SimpleConditionEvent.violated(
                                                        method,
                                                        method.getFullName()
                                                                + " mentions "
                                                                + type.getName())));
            }
        };
    }
}
