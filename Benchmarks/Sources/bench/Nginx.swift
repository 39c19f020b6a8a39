// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An nginx that serves a folder as it is, and curl, which downloads from it.
final class Nginx {
    private let process = Process()
    private let port: UInt16

    /// Returns when it listens.
    init(serving root: URL, in folder: URL) throws {
        port = try Self.freePort()
        let home = folder.appendingPathComponent("nginx")
        try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
        let file = home.appendingPathComponent("nginx.conf")
        try Self.configuration(port, root.path, home.path)
            .write(to: file, atomically: true, encoding: .utf8)
        let programs = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]
        guard let program = programs.first(where: FileManager.default.isExecutableFile) else {
            throw ClientFailure(
                "there is no nginx: run scripts/install-packages nginx-light, or leave the "
                    + "downloads out")
        }
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = ["-e", home.path + "/error.log", "-p", home.path, "-c", file.path]
        try process.run()
        for _ in 0..<500 {
            if let socket = try? Client.connect(port) {
                close(socket)
                return
            }
            usleep(10_000)
        }
        throw ClientFailure("nginx does not listen: see \(home.path)/error.log")
    }

    /// One process, as this user, with the kernel's way to send files.
    private static func configuration(_ port: UInt16, _ root: String, _ home: String) -> String {
        """
        daemon off;
        master_process off;
        pid \(home)/pid;
        error_log \(home)/error.log;
        events {}
        http {
            access_log off;
            sendfile on;
            tcp_nopush on;
            client_body_temp_path \(home)/body;
            proxy_temp_path \(home)/proxy;
            fastcgi_temp_path \(home)/fastcgi;
            uwsgi_temp_path \(home)/uwsgi;
            scgi_temp_path \(home)/scgi;
            server {
                listen 127.0.0.1:\(port);
                root \(root);
            }
        }

        """
    }

    private static func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isFound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0
            }
        }
        guard isFound else { throw ClientFailure("no port is free") }
        return UInt16(bigEndian: address.sin_port)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// SIGTERM would not arrive: the child has inherited that this thread blocks it.
    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// The seconds that curl takes to download to a file.
enum Curl {
    static func seconds(_ url: String, to file: URL) throws -> Double {
        defer { try? FileManager.default.removeItem(at: file) }
        let answer = try Command.run(
            "curl", "--silent", "--show-error", "--fail", "--output", file.path, "--write-out",
            "%{time_total}", url)
        guard let seconds = Double(answer) else { throw ClientFailure("curl: \(answer)") }
        return seconds
    }
}
