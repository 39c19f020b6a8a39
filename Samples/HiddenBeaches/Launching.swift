// SPDX-License-Identifier: Apache-2.0

import StoreKit

/// How the store starts the game when the player chooses something while it does not run.
/// Apple's systems know that by themselves.
enum Launching {
    static func register() {
        #if os(Linux) && DEBUG
            // Wrong variables are reported when the device is used.
            guard var configuration = try? DeviceConfiguration.fromEnvironment(),
                let program = Bundle.main.executablePath
            else { return }
            configuration.launcher = AppLauncher([program, "open", "5"])
            Device.configureDefault(configuration)
        #endif
    }
}
