// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.io.IOException;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A function as text: the instructions of the method that implements it, and the captured values.
 *
 * @param description class and method
 */
record FunctionText(String description, String text) {

    /**
     * @param method that the function implements
     * @throws IOException if the class file of the method cannot be read
     */
    static FunctionText of(Object function, String method)
            throws IOException, ReflectiveOperationException {
        SerializedLambda lambda = lambda(function);
        return lambda == null
                ? ofObject(function, method)
                : ofLambda(lambda, function.getClass().getClassLoader());
    }

    private static FunctionText ofLambda(SerializedLambda lambda, ClassLoader loader)
            throws IOException, ReflectiveOperationException {
        Object[] captured = new Object[lambda.getCapturedArgCount()];
        for (int i = 0; i < captured.length; i++) {
            captured[i] = lambda.getCapturedArg(i);
        }
        String owner = lambda.getImplClass();
        String name = lambda.getImplMethodName();
        String description = owner.replace('/', '.') + "::" + name;
        ClassFile file = ClassFile.of(owner, loader);
        if (!ClassFile.isGenerated(name)) {
            // A method reference. A new release of a library may rewrite a method for the same
            // result.
            String named = "method " + owner + '.' + name + lambda.getImplMethodSignature();
            String code =
                    file.isLibrary() ? "" : file.text(name, lambda.getImplMethodSignature(), null);
            return new FunctionText(description, named + code + CapturedText.of(captured));
        }
        // Of the instance that it is called on, only fields that the method reads have an effect.
        boolean hasReceiver = !file.isStatic(name, lambda.getImplMethodSignature());
        Object receiver = hasReceiver ? captured[0] : null;
        if (hasReceiver) {
            captured[0] = null;
        }
        String code = file.text(name, lambda.getImplMethodSignature(), receiver);
        return new FunctionText(description, code + CapturedText.of(captured));
    }

    private static FunctionText ofObject(Object function, String method)
            throws IOException, ReflectiveOperationException {
        Class<?> type = function.getClass();
        if (type.isHidden() || type.isSynthetic()) {
            throw new IOException("Class " + type.getName() + " was created at run time");
        }
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            ClassFile file = ClassFile.of(at.getName().replace('.', '/'), at.getClassLoader());
            String code = file.implementations(method, function);
            if (!code.isEmpty()) {
                return new FunctionText(type.getName(), code);
            }
        }
        throw new IOException("Class " + type.getName() + " lacks the method " + method);
    }

    /** Returns null if the object is neither a lambda nor a method reference. */
    static @Nullable SerializedLambda lambda(Object function) throws ReflectiveOperationException {
        Class<?> type = function.getClass();
        if (!type.isSynthetic() && !type.isHidden()) {
            return null;
        }
        Method replace;
        try {
            replace = type.getDeclaredMethod("writeReplace");
        } catch (NoSuchMethodException e) {
            return null;
        }
        replace.setAccessible(true);
        return replace.invoke(function) instanceof SerializedLambda lambda ? lambda : null;
    }
}
