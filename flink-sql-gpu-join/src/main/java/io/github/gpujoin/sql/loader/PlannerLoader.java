// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.loader;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.delegation.PlannerFactory;
import org.apache.flink.table.delegation.StreamExecutorFactory;
import org.apache.flink.table.planner.loader.PlannerModule;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flink's planner loader, which is in {@code opt/} while this jar is in {@code lib/}: both register
 * the default planner, and Flink permits one.
 *
 * <pre>
 *   class loader of lib/       Flink, this jar
 *     +-- opt/                 flink-table-planner-loader
 *           +-- planner        the planner and its Calcite, this jar again
 * </pre>
 *
 * <p>The classes that plan joins are loaded next to the planner, since they extend its classes.
 * They build operators whose classes TaskManagers load from {@code lib/}.
 */
final class PlannerLoader {

    private static final Logger LOG = LoggerFactory.getLogger(PlannerLoader.class);

    private static final String JAR_PREFIX = "flink-table-planner-loader-";
    private static final String LOADER_PACKAGE = "org.apache.flink.table.planner.loader.";
    private static final String INSTALLER = "io.github.gpujoin.sql.plan.GpuJoinCalciteConfig";

    private final PlannerFactory plannerFactory;
    private final StreamExecutorFactory executorFactory;
    private final ClassLoader planner;

    private PlannerLoader(
            PlannerFactory plannerFactory,
            StreamExecutorFactory executorFactory,
            ClassLoader planner) {
        this.plannerFactory = plannerFactory;
        this.executorFactory = executorFactory;
        this.planner = planner;
    }

    /**
     * Loads the package of Flink's loader itself, so that the loader finds the planner in the jar
     * in opt/. A class of it in lib/ searches lib/ alone.
     */
    private static final class LoaderPackage extends URLClassLoader {

        LoaderPackage(URL[] jars, ClassLoader parent) {
            super(jars, parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(LOADER_PACKAGE)) {
                return getParent().loadClass(name);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }

    /** Loads Flink's loader once for each process. */
    private static final class Holder {
        static final PlannerLoader INSTANCE = load();
    }

    static PlannerLoader get() {
        return Holder.INSTANCE;
    }

    private static PlannerLoader load() {
        try {
            Path jar = jar();
            ClassLoader loader =
                    new LoaderPackage(
                            new URL[] {jar.toUri().toURL(), location(PlannerModule.class)},
                            PlannerLoader.class.getClassLoader());
            PlannerFactory plannerFactory =
                    (PlannerFactory) factory("DelegatePlannerFactory", loader);
            StreamExecutorFactory executorFactory =
                    (StreamExecutorFactory) factory("DelegateExecutorFactory", loader);
            // Only now: this jar has default factories, too, which Flink's would collide with.
            Class<?> type = Class.forName(PlannerModule.class.getName(), true, loader);
            Object module = type.getMethod("getInstance").invoke(null);
            type.getMethod("addUrlToClassLoader", URL.class)
                    .invoke(module, location(PlannerLoader.class));
            ClassLoader planner =
                    (ClassLoader) type.getMethod("getSubmoduleClassLoader").invoke(module);
            LOG.info("Joins of SQL run as GPU joins: planner={}.", jar);
            return new PlannerLoader(plannerFactory, executorFactory, planner);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ReflectiveOperationException e) {
            throw new TableException("Flink's planner loader is of another version.", e);
        }
    }

    private static URL location(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    private static Path jar() throws IOException {
        List<Path> folders = folders();
        for (Path folder : folders) {
            Optional<Path> jar = newest(folder);
            if (jar.isPresent()) {
                return jar.get();
            }
        }
        throw new TableException(
                "Flink's planner loader is missing: searched=%s. Move %s*.jar from lib/ to opt/."
                        .formatted(folders, JAR_PREFIX));
    }

    private static List<Path> folders() {
        try {
            Path lib = Path.of(location(PlannerLoader.class).toURI()).getParent();
            String opt = System.getenv("FLINK_OPT_DIR");
            Path beside = lib.resolveSibling("opt");
            return opt == null ? List.of(beside) : List.of(Path.of(opt), beside);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(
                    "Jar without a path: " + location(PlannerLoader.class), e);
        }
    }

    private static Optional<Path> newest(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith(JAR_PREFIX))
                    .filter(file -> file.getFileName().toString().endsWith(".jar"))
                    .max(Comparator.naturalOrder());
        }
    }

    private static Object factory(String name, ClassLoader loader)
            throws ReflectiveOperationException {
        return Class.forName(LOADER_PACKAGE + name, true, loader).getConstructor().newInstance();
    }

    PlannerFactory plannerFactory() {
        return plannerFactory;
    }

    StreamExecutorFactory executorFactory() {
        return executorFactory;
    }

    /** Adds the program that replaces joins to the planner of an environment. */
    void install(TableConfig tables) {
        try {
            Class.forName(INSTALLER, true, planner)
                    .getMethod("install", TableConfig.class)
                    .invoke(null, tables);
        } catch (ReflectiveOperationException e) {
            throw new TableException("Joins of SQL cannot be replaced.", e);
        }
    }
}
