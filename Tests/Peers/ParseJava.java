// SPDX-License-Identifier: Apache-2.0

import com.sun.source.util.JavacTask;
import java.nio.file.Path;
import java.util.List;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/** Parses a file, without the libraries that it uses: java ParseJava.java FILE. */
public class ParseJava {
    public static void main(String[] arguments) throws Exception {
        var compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            System.out.println("no compiler");
            return;
        }
        var told = new DiagnosticCollector<JavaFileObject>();
        try (var files = compiler.getStandardFileManager(told, null, null)) {
            var units = files.getJavaFileObjects(Path.of(arguments[0]));
            var task = (JavacTask) compiler.getTask(null, files, told, null, null, units);
            for (var unit : task.parse()) System.out.println(unit.getTypeDecls().size() + " classes");
        }
        List<Diagnostic<? extends JavaFileObject>> errors =
                told.getDiagnostics().stream().filter(one -> one.getKind() == Diagnostic.Kind.ERROR).toList();
        for (var error : errors) System.err.println(error);
        System.exit(errors.isEmpty() ? 0 : 1);
    }
}
