// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.io.IOException;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Method;

/**
 * A function as text: the instructions of the method that implements it, and what it captured.
 *
 * @param description of where the method is
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
            // A method reference. A library's method may be written anew and stay what it is.
            String named = "method " + owner + '.' + name + lambda.getImplMethodSignature();
            String code =
                    file.isLibrary() ? "" : file.text(name, lambda.getImplMethodSignature(), null);
            return new FunctionText(description, named + code + CapturedText.of(captured));
        }
        // Only fields that the method reads are of interest of the instance that it is called on.
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
            throw new IOException("Class " + type.getName() + " was made at run time");
        }
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            ClassFile file = ClassFile.of(at.getName().replace('.', '/'), at.getClassLoader());
            String code = file.implementations(method, function);
            if (!code.isEmpty()) {
                return new FunctionText(type.getName(), code);
            }
        }
        throw new IOException("Class " + type.getName() + " has no method " + method);
    }

    /** Null if the object is no lambda and no method reference. */
    static SerializedLambda lambda(Object function) throws ReflectiveOperationException {
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
