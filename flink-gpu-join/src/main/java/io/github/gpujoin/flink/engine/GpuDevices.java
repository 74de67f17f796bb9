package io.github.gpujoin.flink.engine;

import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.api.common.functions.RuntimeContext;

/** Chooses a subtask's device among those that Flink gives its TaskManager. */
public final class GpuDevices {

    /** Name of the external resource, as in Flink's documentation. */
    static final String RESOURCE = "gpu";

    /** Property that Flink's GPU driver gives each device. */
    static final String INDEX = "index";

    private GpuDevices() {}

    /**
     * A device of the external resource {@value #RESOURCE}. Flink gives every operator of a
     * TaskManager the same set; subtasks take turns over it.
     *
     * @param otherwise the device where the resource is not configured
     * @throws IllegalStateException where a device of the resource has no number
     */
    public static int of(RuntimeContext context, int otherwise) {
        List<Integer> devices =
                context.getExternalResourceInfos(RESOURCE).stream()
                        .map(GpuDevices::number)
                        .sorted()
                        .toList();
        if (devices.isEmpty()) {
            return otherwise;
        }
        return devices.get(context.getTaskInfo().getIndexOfThisSubtask() % devices.size());
    }

    private static int number(ExternalResourceInfo device) {
        Optional<String> index = device.getProperty(INDEX);
        try {
            return Integer.parseUnsignedInt(index.orElse("").strip());
        } catch (NumberFormatException e) {
            throw new IllegalStateException(
                    "a device of the external resource has its number as a property: resource="
                            + RESOURCE
                            + ", property="
                            + INDEX
                            + ", device="
                            + device
                            + ", value="
                            + index.orElse(null),
                    e);
        }
    }
}
