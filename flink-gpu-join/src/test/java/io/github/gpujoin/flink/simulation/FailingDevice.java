// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.engine.FailingEngines;
import io.github.gpujoin.flink.runtime.JoinSettings;
import io.github.gpujoin.flink.runtime.StarJoinOperatorFactory;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;

/** Devices of subtasks. One that is lost after some calls puts the join on the CPU. */
final class FailingDevice {

    /** Of {@link JobShape#engine}. */
    static final String NAME = "failing";

    private FailingDevice() {}

    /**
     * The factory of a join with such a device before its own engine; any other as it is.
     *
     * @param goodCalls that the device carries out
     */
    static StreamOperatorFactory<Object> putInto(
            StreamOperatorFactory<Object> factory, int goodCalls) {
        return putInto(factory, gpu -> new FailingEngines(goodCalls));
    }

    /** The same with engines of any device. */
    static StreamOperatorFactory<Object> putInto(
            StreamOperatorFactory<Object> factory, EngineSelection.Preferred device) {
        if (!(factory instanceof StarJoinOperatorFactory<?>)) {
            return factory;
        }
        try {
            JoinSettings settings = (JoinSettings) field(factory, "settings");
            EngineSelection own = settings.engines();
            EngineSelection engines =
                    new EngineSelection(
                            device, false, own.standby(), own.division(), own.slotMemoryBytes());
            Constructor<?> made = StarJoinOperatorFactory.class.getConstructors()[0];
            @SuppressWarnings("unchecked")
            StreamOperatorFactory<Object> failing =
                    (StreamOperatorFactory<Object>)
                            made.newInstance(
                                    with(settings, engines), field(factory, "emitterFactory"));
            return failing;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    /** These settings with other engines, whatever else they hold. */
    private static JoinSettings with(JoinSettings settings, EngineSelection engines)
            throws ReflectiveOperationException {
        RecordComponent[] components = JoinSettings.class.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] =
                    types[i] == EngineSelection.class
                            ? engines
                            : components[i].getAccessor().invoke(settings);
        }
        return JoinSettings.class.getConstructor(types).newInstance(values);
    }
}
