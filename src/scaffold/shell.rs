//! The shell's state as text: what one command leaves to the next, though each has a process of its own.

/// The directory of our own files, below the one for temporary files.
pub(super) const PLACE: &str = "ssr/shell";
/// Largest state that is kept, bytes.
pub(super) const LARGEST: u64 = 1 << 20;
/// How a state ends that was written to its end.
pub(super) const WHOLE: &[u8] = b"# whole\n";

/// Runs the command in the file of the first argument in a shell whose state is read from the second, and
/// writes its state to the third when it ends, however it ends by itself.
///
/// Functions and names that begin with `__ssr` are ours. Options come last in a state, so that none of them
/// (`-e`, `-u`) is in force while it is read; traps are not in it. No subshell is made while it is written:
/// in one, `-e` would be told as off.
pub(super) const RUN: &str = r#"
__ssr_before=$2 __ssr_after=$3 __ssr_command=$(<"$1")
builtin set --
__ssr_save() {
    builtin local __ssr_options="$SHELLOPTS" __ssr_letter __ssr_name __ssr_option
    builtin local -a __ssr_names
    builtin set +eux
    {
        for __ssr_letter in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z \
            a b c d e f g h i j k l m n o p q r s t u v w x y z _; do
            builtin eval "__ssr_names=(\"\${!$__ssr_letter@}\")"
            for __ssr_name in "${__ssr_names[@]}"; do
                case $__ssr_name in
                    __ssr_* | BASH | BASH_* | BASHOPTS | BASHPID | COMP_* | DIRSTACK | EPOCH* | EUID) ;;
                    FUNCNAME | GROUPS | HISTCMD | LINENO | OLDPWD | PIPESTATUS | PPID | PWD | RANDOM) ;;
                    SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | _) ;;
                    *) builtin declare -p "$__ssr_name" ;;
                esac
            done
        done
        builtin printf 'builtin cd -- %q\n' "$PWD"
        builtin printf 'builtin unset OLDPWD\n'
        builtin declare -p OLDPWD
        builtin shopt -p
        builtin unset -f __ssr_save
        builtin declare -f
        builtin declare -Fx
        builtin alias -p
        builtin umask -p
        builtin printf 'builtin set +o braceexpand +o hashall\n'
        builtin local IFS=:
        for __ssr_option in $__ssr_options; do
            case $__ssr_option in
                noexec | onecmd) ;;
                *) builtin printf 'builtin set -o %s\n' "$__ssr_option" ;;
            esac
        done
        builtin printf '# whole\n'
    } >|"$__ssr_after" 2>/dev/null
}
builtin trap __ssr_save EXIT
builtin . "$__ssr_before" 2>/dev/null
builtin eval "$__ssr_command"
"#;
