// SPDX-License-Identifier: Apache-2.0

import Foundation
import Live
import Synchronization

extension Device {
    /// The process's own device, created at first use.
    public static var `default`: Device { DefaultDevice.device }

    /// Configures the process's own device in code, before it is used. Code
    /// takes precedence over the environment. A later call is a programming
    /// error.
    public static func configureDefault(_ configuration: DeviceConfiguration) {
        DefaultDevice.configure(configuration)
    }
}

/// The process's own device. Apple's interfaces need it, because they pass
/// none.
enum DefaultDevice {
    private struct Choice {
        var configuration: DeviceConfiguration?
        var isMade = false
    }

    private static let choice = Mutex(Choice())

    static let device: Device = {
        let chosen = choice.withLock { choice in
            choice.isMade = true
            return choice.configuration
        }
        let configuration = chosen ?? fromSurroundings()
        do { try configuration.launcher?.register(in: configuration.folder) } catch {
            StandardError.say("The app's launcher cannot be registered: \(error)")
        }
        return Device(configuration: configuration, ports: .live(configuration))
    }()

    static func configure(_ configuration: DeviceConfiguration) {
        choice.withLock { choice in
            precondition(!choice.isMade, "a device is set up before it is used")
            choice.configuration = configuration
        }
    }

    private static func fromSurroundings() -> DeviceConfiguration {
        let believed = BelievedEnvironment(
            Live.environment, isDebugBuild: DeviceConfiguration.isDebugBuild)
        if let warning = believed.warning { StandardError.say(warning) }
        do throws(ConfigurationFault) {
            return try DeviceConfiguration.fromEnvironment(believed.variables)
        } catch {
            StandardError.say(error.description)
            var broken = DeviceConfiguration(storeURL: URL(fileURLWithPath: "/"))
            broken.fault = error.description
            return broken
        }
    }
}
