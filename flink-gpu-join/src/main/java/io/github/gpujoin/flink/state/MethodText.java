// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.shaded.asm9.org.objectweb.asm.ConstantDynamic;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Handle;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Label;
import org.apache.flink.shaded.asm9.org.objectweb.asm.MethodVisitor;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Opcodes;
import org.apache.flink.shaded.asm9.org.objectweb.asm.Type;
import org.jspecify.annotations.Nullable;

/**
 * Writes a method's instructions as text that stays the same if unrelated code changes. Compilers
 * number some methods, such as lambdas. Their instructions are written instead of their names.
 */
final class MethodText extends MethodVisitor {

    private static final Pattern NUMBERED = Pattern.compile("\\$\\d+");

    private record FieldRead(String owner, String name) {}

    private record Followed(String owner, String name, String descriptor) {}

    private final ClassFile file;
    private final Map<String, Object> receivers;
    private final Set<Followed> followed;
    private final StringBuilder text = new StringBuilder();
    private final Map<Label, Integer> labels = new HashMap<>();

    /** Fields of receivers that the method reads, by first use. */
    private final Set<FieldRead> fields = new LinkedHashSet<>();

    /** Failure of the visit, since visitors throw no checked exceptions. */
    private @Nullable Exception failure;

    /**
     * @param receiver whose fields, and those of enclosing instances, the method reads; null to
     *     ignore them
     */
    MethodText(ClassFile file, @Nullable Object receiver) throws IllegalAccessException {
        this(file, receivers(receiver), new HashSet<>());
    }

    /**
     * @param receivers instances whose fields may be read, by class
     */
    private MethodText(ClassFile file, Map<String, Object> receivers, Set<Followed> followed) {
        super(Opcodes.ASM9);
        this.file = file;
        this.receivers = receivers;
        this.followed = followed;
    }

    /** The text; empty if the class has no such method. */
    String of(String method, String descriptor) throws IOException, ReflectiveOperationException {
        followed.add(new Followed(file.name(), method, descriptor));
        file.accept(method, descriptor, this);
        if (failure instanceof ReflectiveOperationException e) {
            throw e;
        }
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
        for (FieldRead field : fields) {
            text.append("value ").append(CapturedText.of(value(field))).append('\n');
        }
        return text.toString();
    }

    /** An instance and its enclosing ones, each under its class and superclasses. */
    private static Map<String, Object> receivers(@Nullable Object innermost)
            throws IllegalAccessException {
        Map<String, Object> receivers = new HashMap<>();
        Object instance = innermost;
        while (instance != null) {
            Object enclosing = null;
            Class<?> type = instance.getClass();
            for (; type != null && type.getClassLoader() != null; type = type.getSuperclass()) {
                receivers.putIfAbsent(type.getName().replace('.', '/'), instance);
                for (Field field : type.getDeclaredFields()) {
                    if (isEnclosing(field.getName())) {
                        field.setAccessible(true);
                        enclosing = field.get(instance);
                    }
                }
            }
            instance = enclosing;
        }
        return receivers;
    }

    private static boolean isEnclosing(String field) {
        return field.startsWith("this$") || field.equals("$outer");
    }

    private @Nullable Object value(FieldRead read) throws ReflectiveOperationException {
        Object receiver = receivers.get(read.owner);
        for (Class<?> type = receiver.getClass(); type != null; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(read.name)) {
                    field.setAccessible(true);
                    return field.get(receiver);
                }
            }
        }
        throw new NoSuchFieldException(receiver.getClass().getName() + "." + read.name);
    }

    // ------------------------------------------------------------------ names

    private MethodText add(int opcode, Object... operands) {
        text.append(opcode);
        for (Object operand : operands) {
            text.append(' ').append(operand);
        }
        text.append('\n');
        return this;
    }

    /** A class or descriptor, without the numbers of anonymous classes. */
    private String type(String name) {
        return NUMBERED.matcher(name.replace(file.name(), "this")).replaceAll("\\$#");
    }

    private int label(Label label) {
        return labels.computeIfAbsent(label, l -> labels.size());
    }

    private String method(String owner, String name, String descriptor) {
        if (ClassFile.isGenerated(name)) {
            return type(descriptor) + follow(new Followed(owner, name, descriptor));
        }
        return type(owner) + '.' + name + type(descriptor);
    }

    private String follow(Followed method) {
        if (!followed.add(method)) {
            return "{again}";
        }
        try {
            boolean same = method.owner.equals(file.name());
            ClassFile other = same ? file : ClassFile.of(method.owner, file.loader());
            MethodText inner = new MethodText(other, receivers, followed);
            return "{\n" + inner.of(method.name, method.descriptor) + "}";
        } catch (IOException | ReflectiveOperationException e) {
            failure = e;
            return "";
        }
    }

    private String constant(Object value) {
        if (value instanceof Handle handle) {
            return handle.getTag()
                    + " "
                    + method(handle.getOwner(), handle.getName(), handle.getDesc());
        }
        if (value instanceof Type type) {
            return type(type.getDescriptor());
        }
        if (value instanceof ConstantDynamic dynamic) {
            StringBuilder arguments = new StringBuilder(dynamic.getName());
            for (int i = 0; i < dynamic.getBootstrapMethodArgumentCount(); i++) {
                arguments.append(' ').append(constant(dynamic.getBootstrapMethodArgument(i)));
            }
            return constant(dynamic.getBootstrapMethod()) + " " + arguments;
        }
        return value.getClass().getSimpleName() + " " + value;
    }

    // ------------------------------------------------------------------ instructions

    @Override
    public void visitInsn(int opcode) {
        add(opcode);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
        add(opcode, operand);
    }

    @Override
    public void visitVarInsn(int opcode, int index) {
        add(opcode, index);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
        add(opcode, type(type));
    }

    @Override
    public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
        if (name.contains("SwitchMap")) {
            failure = new IOException("All switches of a class share numbers of an enum's values");
        }
        boolean captured = name.startsWith("val$");
        if (opcode == Opcodes.GETFIELD && receivers.containsKey(owner) && !isEnclosing(name)) {
            fields.add(new FieldRead(owner, name));
        }
        add(opcode, type(owner), captured ? "val$" : type(name), type(descriptor));
    }

    @Override
    public void visitMethodInsn(
            int opcode, String owner, String name, String descriptor, boolean isInterface) {
        add(opcode, method(owner, name, descriptor));
    }

    @Override
    public void visitInvokeDynamicInsn(
            String name, String descriptor, Handle bootstrap, Object... arguments) {
        add(Opcodes.INVOKEDYNAMIC, name, type(descriptor), constant(bootstrap));
        Arrays.stream(arguments).forEach(argument -> add(0, constant(argument)));
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
        add(opcode, label(label));
    }

    @Override
    public void visitLabel(Label label) {
        add(-1, label(label));
    }

    @Override
    public void visitLdcInsn(Object value) {
        add(Opcodes.LDC, constant(value));
    }

    @Override
    public void visitIincInsn(int index, int increment) {
        add(Opcodes.IINC, index, increment);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... cases) {
        add(Opcodes.TABLESWITCH, min, max, label(otherwise));
        Arrays.stream(cases).forEach(each -> add(0, label(each)));
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] cases) {
        add(Opcodes.LOOKUPSWITCH, Arrays.toString(keys), label(otherwise));
        Arrays.stream(cases).forEach(each -> add(0, label(each)));
    }

    @Override
    public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
        add(Opcodes.MULTIANEWARRAY, type(descriptor), dimensions);
    }

    @Override
    public void visitTryCatchBlock(Label start, Label end, Label handler, @Nullable String type) {
        add(-2, label(start), label(end), label(handler), type == null ? "" : type(type));
    }
}
