#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""systemctl and journalctl for machines whose first process is not systemd: starts and
stops what a unit file says, as the tests need it (machines.py)."""
import glob
import os
import pwd
import shlex
import signal
import subprocess
import sys
import time

PLACES = ("/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system")
RUN = "/run/systemctl-stub"


def log_of(unit):
    return "%s/%s.log" % (RUN, unit)


def read_unit(unit):
    """Keys of all sections; a list for each."""
    keys = {}
    name, is_instance, instance = unit.partition("@")
    for place in PLACES:
        path = "%s/%s.service" % (place, name + is_instance)
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    name, found, value = line.strip().replace("%i", instance).partition("=")
                    if found and not name.startswith(("#", ";")):
                        keys.setdefault(name, []).append(value)
            return keys
    sys.exit("Unit %s.service not found." % unit)


def pid_of(unit):
    try:
        with open("%s/%s.pid" % (RUN, unit)) as file:
            pid = int(file.read())
        with open("/proc/%d/stat" % pid) as file:
            return pid if file.read().rpartition(")")[2].split()[0] != "Z" else None
    except (OSError, ValueError):
        return None


def environment_of(keys, **words_of_user):
    words = dict(os.environ, **words_of_user)
    host = os.uname().nodename
    for line in keys.get("Environment", []):
        for word in shlex.split(line.replace("%l", host.partition(".")[0])):
            words[word.partition("=")[0]] = word.partition("=")[2]
    for path in keys.get("EnvironmentFile", []):
        with open(path) as file:
            for line in file:
                name, found, value = line.strip().partition("=")
                if found and not name.startswith("#"):
                    words[name] = value
    return words


def command_of(text, words):
    command = []
    for word in shlex.split(text):
        if word.startswith("${"):
            command.append(words.get(word[2:-1], ""))
        elif word.startswith("$"):
            command += words.get(word[1:], "").split()
        else:
            command.append(word)
    return command


def start(unit):
    keys = read_unit(unit)
    if pid_of(unit):
        return 0
    if not all(os.path.exists(path) for path in keys.get("ConditionPathExists", [])):
        return 0
    account = pwd.getpwnam(keys.get("User", ["root"])[0])
    for kind, place in (("State", "/var/lib/"), ("Runtime", "/run/")):
        for name in keys.get(kind + "Directory", []):
            os.makedirs(place + name, 0o755, exist_ok=True)
            os.chmod(place + name, int(keys.get(kind + "DirectoryMode", ["755"])[0], 8))
            os.chown(place + name, account.pw_uid, account.pw_gid)
    words = environment_of(keys, HOME=account.pw_dir, USER=account.pw_name)
    os.makedirs(RUN, exist_ok=True)
    begin = os.path.getsize(log_of(unit)) if os.path.exists(log_of(unit)) else 0
    with open(log_of(unit), "ab") as log:
        process = subprocess.Popen(
            command_of(keys["ExecStart"][0], words), env=words, cwd="/", stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True, user=account.pw_uid,
            group=account.pw_gid, umask=0o022,
            extra_groups=os.getgrouplist(account.pw_name, account.pw_gid))
    with open("%s/%s.pid" % (RUN, unit), "w") as file:
        file.write(str(process.pid))
    for _ in range(1200):
        with open(log_of(unit), "rb") as log:
            log.seek(begin)
            if b"ready" in log.read().split(b"\n"):
                return 0
        if process.poll() is not None:
            break
        time.sleep(0.1)
    print("Job for %s.service failed." % unit, file=sys.stderr)
    return 1


def stop(unit):
    pid = pid_of(unit)
    if pid:
        os.kill(pid, signal.SIGTERM)
        while pid_of(unit) == pid:
            time.sleep(0.05)
    return 0


def reload(unit):
    pid = pid_of(unit)
    if not pid:
        return 1
    os.kill(pid, signal.SIGHUP)
    return 0


def restart(unit):
    return stop(unit) or start(unit)


def kill(unit):
    pid = pid_of(unit)
    if pid:
        os.kill(pid, signal.SIGKILL)
        while pid_of(unit) == pid:
            time.sleep(0.05)
    return 0


def control_postgresql(verb):
    """Debian's own command, for each of its clusters."""
    clusters = subprocess.run(["pg_lsclusters", "-h"], check=True, text=True, capture_output=True)
    return max(subprocess.call(["pg_ctlcluster", "--skip-systemctl-redirect", *line.split()[:2], verb])
               for line in clusters.stdout.splitlines())


def restart_slurmctld():
    """Of a cluster that was started without systemd."""
    subprocess.run(["scontrol", "shutdown", "slurmctld"], check=True)
    running = ["pgrep", "--runstates", "RSD", "--exact", "slurmctld-wlm"]
    while subprocess.run(running, stdout=subprocess.DEVNULL).returncode == 0:
        time.sleep(0.1)
    return subprocess.call(["slurmctld-wlm"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if os.path.basename(sys.argv[0]) == "journalctl":
        for path in sorted(glob.glob(log_of(words[0] if words else "*"))):
            with open(path, errors="replace") as log:
                sys.stdout.write(log.read())
        return 0
    verb, units = (words[0] if words else ""), [w.removesuffix(".service") for w in words[1:]]
    if units == ["postgresql"]:
        return control_postgresql(verb)
    if (verb, units) == ("restart", ["slurmctld"]):
        return restart_slurmctld()
    verbs = {"start": start, "stop": stop, "restart": restart, "reload": reload, "kill": kill,
             "try-restart": lambda unit: restart(unit) if pid_of(unit) else 0,
             "is-active": lambda unit: 0 if pid_of(unit) else 3}
    if verb not in verbs:
        return 0  # daemon-reload, enable, ...: nothing is remembered here
    return max((verbs[verb](unit) for unit in units), default=0)


sys.exit(main())
