// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The load, in a process of its own, so that it is not measured with what it loads.
struct LoadProcess {
    let port: UInt16
    let connections: Int
    let requests: Int
    /// One for all connections, or several that they have in turn.
    let tokens: [String]
    let path: String
    /// Makes the purchase ids of this run unlike any other's.
    let run: UInt32

    init(arguments: [String]) throws {
        guard arguments.count == 6, let port = UInt16(arguments[0]),
            let connections = Int(arguments[1]), let requests = Int(arguments[2]),
            let run = UInt32(arguments[5])
        else { throw ClientFailure("client PORT CONNECTIONS REQUESTS TOKEN PATH RUN") }
        (self.port, self.connections, self.requests, self.run) = (port, connections, requests, run)
        (tokens, path) = (arguments[3].split(separator: ",").map(String.init), arguments[4])
    }

    /// Prints the seconds that all requests took.
    func start() throws {
        let client = Client(
            port: port, connections: connections, requestsPerConnection: requests / connections
        ) { [path, tokens, run] connection, number in
            let id = String(format: "%08x-0000-4000-8000-%04x%08x", run, connection, number)
            let body =
                #"{"productId":"com.example.coins","quantity":1,"unitPrice":990,"currency":"USD"}"#
            return Array(
                """
                PUT \(path)\(id) HTTP/1.1\r
                Host: 127.0.0.1\r
                Authorization: Bearer \(tokens[connection % tokens.count])\r
                Content-Type: application/json\r
                Content-Length: \(body.utf8.count)\r
                \r
                \(body)
                """.utf8)
        }
        print(try client.run())
    }

    /// Runs a load in a child of this program and gives its seconds.
    static func run(
        port: Int, connections: Int, requests: Int, token: String, path: String, run: UInt32
    ) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [
            "client", "\(port)", "\(connections)", "\(requests)", token, path, "\(run)",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: answer, as: UTF8.self)
        guard let seconds = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw ClientFailure("the load did not finish")
        }
        return seconds
    }
}
