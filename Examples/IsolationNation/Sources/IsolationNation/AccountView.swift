#if canImport(SwiftUI)
    import IsolationNationModel
    import SwiftUI

    /// The form before a session.
    struct AccountView: View {
        @Bindable var account: AccountModel

        var body: some View {
            Form {
                Section {
                    if account.step == .signUp || account.needsAnotherName {
                        TextField("Name", text: $account.username).textContentType(.username)
                    }
                    TextField("E-mail address", text: $account.email).textContentType(.emailAddress)
                    switch account.step {
                    case .signIn: SecureField("Password", text: $account.password).textContentType(.password)
                    case .signUp: SecureField("Password", text: $account.password).textContentType(.newPassword)
                    case .confirm: codeField
                    case .forgotPassword: EmptyView()
                    case .newPassword:
                        codeField
                        SecureField("New password", text: $account.password).textContentType(.newPassword)
                    }
                    if let feedback = account.feedback { FeedbackView(feedback: feedback) }
                    Button(action) { Task { await account.submit() } }.disabled(!account.canSubmit)
                }
                Section { otherForms }
            }
            .autocorrectionDisabled()
            .navigationTitle("Isolation Nation")
        }

        private var codeField: some View {
            TextField("Code of the mail", text: $account.code).textContentType(.oneTimeCode)
        }

        private var action: LocalizedStringKey {
            switch account.step {
            case .signIn: "Sign in"
            case .signUp: "Sign up"
            case .confirm: "Confirm"
            case .forgotPassword: "Send a code"
            case .newPassword: "Set the password"
            }
        }

        @ViewBuilder private var otherForms: some View {
            if account.step == .confirm { Button("Send another code") { Task { await account.resendCode() } } }
            if account.step != .signIn { Button("I have an account") { account.step = .signIn } }
            if account.step == .signIn {
                Button("Create an account") { account.step = .signUp }
                Button("I have a code") { account.step = .confirm }
                Button("I forgot the password") { account.step = .forgotPassword }
            }
        }
    }
#endif
