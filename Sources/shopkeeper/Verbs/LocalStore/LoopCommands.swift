// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Live
import StoreWire

struct EnvCommand: AsyncParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case sh, dotenv, json }

    static let configuration = CommandConfiguration(
        commandName: "env", abstract: "Print the variables that point to a running store.")

    @Option(name: .long, help: "The format: sh, dotenv or json.")
    var format = Format.sh

    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let store = try store.store()
        let variables = StoreVariables(store.run, realm: store.realm)
        switch printing.json ? .json : format {
        case .sh: Output.contents(variables.shell + "\n")
        case .dotenv: Output.contents(variables.dotenv + "\n")
        case .json: try Output.answer(json: variables.dictionary)
        }
    }
}

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a store is ready; exits with 69 if it is not in time.")

    @Option(name: .long, help: "The most seconds to wait.")
    var timeout = TimeLimit(30.0)

    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let end = Live.monotonic() + timeout.duration
        while true {
            do {
                let found = try store.store()
                let status = try await found.publicDoor.get("/ready", as: ServerStatus.self)
                try printing.show(status, "The store at \(found.run.url) is ready.")
                return
            } catch let failure as Failure where failure.code == .unavailable {
                guard Live.monotonic() < end else { throw failure }
                try await Live.sleep(.milliseconds(50))
            }
        }
    }
}

struct StatusCommand: AsyncParsableCommand {
    /// What is printed about a running store.
    private struct Status: Encodable {
        let status: String
        let url: String
        let data: String
        let bundleId: String
        let pid: Int32
        let root: String
        let version: String
    }

    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Report whether a store is running and ready.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let found = try store.store()
        let run = found.run
        let answer = try await found.publicDoor.get("/ready", as: ServerStatus.self)
        let status = Status(
            status: answer.status, url: run.url, data: run.data, bundleId: run.bundleId,
            pid: run.pid, root: run.root, version: run.version)
        try printing.show(
            status,
            "\(answer.status): \(run.url), serving \(run.bundleId) from \(run.data) (pid \(run.pid))"
        )
    }
}

struct StopCommand: AsyncParsableCommand {
    private struct Stopped: Encodable {
        let stopped: Bool
        let pid: Int32
    }

    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop a running store and wait until it has ended.")

    @Option(name: .long, help: "The most seconds to wait.")
    var timeout = TimeLimit(30.0)

    @OptionGroup var store: StoreOptions
    @OptionGroup var printing: PrintOptions

    func run() async throws {
        let run = try store.store().run
        // Confirmed again right before the signal, because the store may have
        // ended in the meantime.
        guard let holder = run.holder else {
            return try printing.show(Stopped(stopped: true, pid: run.pid), "Stopped.")
        }
        guard !holder.isAncestor else {
            throw Failure(
                .no, "ownStore", "This store is served by the `exec` that runs this command.",
                rule: "it ends with exec's command, whose exit code exec passes on",
                remedy: "let the command end; or serve a store with `serve`, which can be stopped")
        }
        holder.terminate()
        let end = Live.monotonic() + timeout.duration
        while holder.isRunning {
            guard Live.monotonic() < end else {
                throw Failure(
                    .no, "stillRunning", "The store did not end in \(timeout) seconds.",
                    remedy: "look into its log, or end process \(run.pid)")
            }
            try await Live.sleep(.milliseconds(20))
        }
        try printing.show(Stopped(stopped: true, pid: run.pid), "Stopped.")
    }
}
