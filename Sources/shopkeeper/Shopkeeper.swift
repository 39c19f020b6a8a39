// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The command: options and wiring only.
@main
struct Shopkeeper: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "shopkeeper",
        abstract: "A store for in-app purchases on your own machine.",
        discussion: """
            Exit codes: 0 success, 1 the answer is no, 64 wrong command line, 65 wrong input \
            file, 69 no store is running, its database cannot be used or a package is missing, \
            70 a bug in shopkeeper, 73 the data directory or the port is taken, 74 the answer \
            could not be written, 77 a key is missing or wrong.
            """,
        version: version,
        groupedSubcommands: [
            CommandGroup(
                name: "Local store",
                subcommands: [
                    ServeCommand.self, ExecCommand.self, EnvCommand.self, WaitCommand.self,
                    StatusCommand.self, StopCommand.self,
                ]),
            CommandGroup(
                name: "Purchases",
                subcommands: [
                    BuyCommand.self, PurchaseCommand.self, ApproveCommand.self,
                    DeclineCommand.self, TransactionCommand.self, SubscriptionCommand.self,
                    RefundCommand.self, ReverseCommand.self, RevokeCommand.self,
                    RefundsCommand.self, HistoryCommand.self, WhyCommand.self, ClockCommand.self,
                    SnapshotCommand.self, PlayCommand.self, SettingsCommand.self,
                ]),
            CommandGroup(
                name: "Catalogue",
                subcommands: [
                    CatalogueCommand.self, AppCommand.self, ProductCommand.self,
                    GroupCommand.self, OfferCommand.self, ContentCommand.self,
                    PromotionCommand.self, ReviewCommand.self,
                ]),
            CommandGroup(
                name: "Merchant",
                subcommands: [
                    VerifyCommand.self, ListenCommand.self, NotifyCommand.self,
                    NotificationCommand.self, FaultCommand.self, KeyCommand.self,
                    ConnectCommand.self, LedgerCommand.self,
                ]),
            CommandGroup(
                name: "Operators",
                subcommands: [
                    RealmCommand.self, CustomerCommand.self, FamilyCommand.self,
                    SessionCommand.self,
                    OperatorCommand.self, AuditCommand.self, CertificateCommand.self,
                    DatabaseCommand.self,
                ]),
        ])

    /// Runs the verb, and converts errors to a message and an exit code.
    static func main() async {
        // A reader that has gone is an error of the write, and ends no server.
        signal(SIGPIPE, SIG_IGN)
        let wantsJSON = CommandLine.arguments.prefix { $0 != "--" }.contains("--json")
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
            end(0)
        } catch let failure as Failure {
            failure.complain(asJSON: wantsJSON)
            end(failure.code.rawValue)
        } catch let code as ExitCode {
            end(code.rawValue)
        } catch  where exitCode(for: error).rawValue == 0 {
            Output.contents(fullMessage(for: error) + "\n")
            end(0)
        } catch  where error is ValidationError || "\(type(of: error))" == "CommandError" {
            // ArgumentParser's message about a command line: the usage, with
            // exit code 64.
            guard wantsJSON else {
                Output.complain(
                    fullMessage(for: error).split(
                        separator: "\n", omittingEmptySubsequences: false
                    ).map(String.init))
                end(exitCode(for: error).rawValue)
            }
            let failure = Failure(
                .usage, "usage", message(for: error), rule: usageString(),
                remedy: "`shopkeeper help` lists the verbs, and `--help` after a verb describes it")
            failure.complain(asJSON: true)
            end(failure.code.rawValue)
        } catch {
            let failure = Failure(unexpected: error)
            failure.complain(asJSON: wantsJSON)
            end(failure.code.rawValue)
        }
    }

    private static func end(_ code: Int32) -> Never {
        var code = code
        if code == 0, Output.isLost {
            Output.loss.complain(asJSON: CommandLine.arguments.contains("--json"))
            code = ExitStatus.output.rawValue
        }
        // `exit` would wait for the lock of the stream that is being written.
        guard PrintQueue.drain() else { _exit(code) }
        Foundation.exit(code)
    }
}
